"""A session with the official Python SDK. argv: a JSON object {transport, url, token, command, args, file, uri, mode}.

Prints what was seen as one JSON object.
"""

import json
import os
import sys
import warnings

import anyio
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference

warnings.simplefilter("ignore")
how = json.loads(sys.argv[1])
headers = {"Authorization": f"Bearer {how['token']}"}


def transport():
    match how["transport"]:
        case "stdio":
            parameters = StdioServerParameters(command=how["command"], args=how["args"], env=dict(os.environ))
            return stdio_client(parameters, errlog=open(os.devnull, "w"))
        case "sse":
            return sse_client(how["url"] + "/sse", headers=headers)
        case _:
            return streamable_http_client(how["url"] + "/mcp", http_client=create_mcp_http_client(headers=headers))


async def main():
    updates, told = anyio.create_memory_object_stream(10)

    async def handle(message):
        uri = getattr(getattr(getattr(message, "root", message), "params", None), "uri", None)
        if uri is not None:
            await updates.send(str(uri))

    async with Client(transport(), mode=how["mode"], message_handler=handle) as client:
        seen = {"protocol": client.protocol_version, "instructions": client.instructions}
        seen["tools"] = [t.name for t in (await client.list_tools()).tools]
        seen["resources"] = [str(r.uri) for r in (await client.list_resources()).resources]
        seen["templates"] = [t.uri_template for t in (await client.list_resource_templates()).resource_templates]
        seen["prompts"] = [p.name for p in (await client.list_prompts()).prompts]

        async def call(name, arguments):
            # The SDK checks structured content against the tool's output schema itself.
            return await client.call_tool(name, arguments)

        seen["connection"] = (await call("who_am_i", {})).structured_content["connection"]
        seen["stored"] = (await call("memory_store", {"content": how["fact"], "tags": ["travel"]})).structured_content["visibility"]
        found = await call("memory_search", {"query": how["fact"], "limit": 3})
        seen["found"] = [r["content"] for r in found.structured_content["results"]]
        refused = await call("memory_search", {"query": "x", "colour": "red"})
        seen["refused"] = refused.content[0].text if refused.is_error else ""
        seen["soul"] = (await client.read_resource("yamo://workspace/SOUL.md")).contents[0].text
        try:
            await client.read_resource("yamo://workspace/ABSENT.md")
        except MCPError as error:
            seen["absent"] = error.code
        seen["recall"] = (await client.get_prompt("recall", {"topic": how["fact"]})).messages[0].content.text
        topics = await client.complete(PromptReference(type="ref/prompt", name="recall"), {"name": "topic", "value": "tra"})
        seen["completed"] = topics.completion.values

        def change():
            with open(how["file"], "a") as file:
                file.write("\nChanged.\n")

        with anyio.fail_after(60):
            if how["mode"] == "legacy":
                await client.subscribe_resource(how["uri"])
                change()
                seen["updated"] = await told.receive()
            else:
                async with client.listen(resource_subscriptions=[how["uri"]]) as events:
                    change()
                    async for event in events:
                        seen["updated"] = str(event.uri)
                        break
    print(json.dumps(seen))


anyio.run(main)
