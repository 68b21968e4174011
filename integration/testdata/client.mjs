// A session with the official TypeScript SDK. argv: the SDK's folder, a JSON object
// {transport, url, token, command, args, file, uri}. Prints what was seen as one JSON object.
import { createRequire } from "node:module";
import { appendFileSync } from "node:fs";

const [home, text] = process.argv.slice(2);
const how = JSON.parse(text);
const sdk = createRequire(home + "/");
const { Client } = sdk("@modelcontextprotocol/sdk/client/index.js");
const { ResourceUpdatedNotificationSchema } = sdk("@modelcontextprotocol/sdk/types.js");

async function transport() {
  const headers = { Authorization: `Bearer ${how.token}` };
  switch (how.transport) {
    case "stdio": {
      const { StdioClientTransport } = sdk("@modelcontextprotocol/sdk/client/stdio.js");
      return new StdioClientTransport({ command: how.command, args: how.args, env: process.env, stderr: "ignore" });
    }
    case "sse": {
      const { SSEClientTransport } = sdk("@modelcontextprotocol/sdk/client/sse.js");
      return new SSEClientTransport(new URL(how.url + "/sse"), { requestInit: { headers } });
    }
    default: {
      const { StreamableHTTPClientTransport } = sdk("@modelcontextprotocol/sdk/client/streamableHttp.js");
      return new StreamableHTTPClientTransport(new URL(how.url + "/mcp"), { requestInit: { headers } });
    }
  }
}

const client = new Client({ name: "typescript-sdk", version: "1" }, { capabilities: {} });
await client.connect(await transport());
const seen = { protocol: client.transport.protocolVersion ?? "", instructions: client.getInstructions() };
seen.tools = (await client.listTools()).tools.map((t) => t.name);
seen.resources = (await client.listResources()).resources.map((r) => r.uri);
seen.templates = (await client.listResourceTemplates()).resourceTemplates.map((t) => t.uriTemplate);
seen.prompts = (await client.listPrompts()).prompts.map((p) => p.name);
// The SDK checks structured content against the tool's output schema itself.
const call = async (name, args) => await client.callTool({ name, arguments: args });
seen.connection = (await call("who_am_i", {})).structuredContent.connection;
seen.stored = (await call("memory_store", { content: how.fact, tags: ["travel"] })).structuredContent.visibility;
seen.found = (await call("memory_search", { query: how.fact, limit: 3 })).structuredContent.results.map((r) => r.content);
const refused = await call("memory_search", { query: "x", colour: "red" });
seen.refused = refused.isError ? refused.content[0].text : "";
seen.soul = (await client.readResource({ uri: "yamo://workspace/SOUL.md" })).contents[0].text;
try {
  await client.readResource({ uri: "yamo://workspace/ABSENT.md" });
} catch (error) {
  seen.absent = error.code;
}
seen.recall = (await client.getPrompt({ name: "recall", arguments: { topic: how.fact } })).messages[0].content.text;
seen.completed = (await client.complete({ ref: { type: "ref/prompt", name: "recall" }, argument: { name: "topic", value: "tra" } })).completion.values;

const updated = new Promise((resolve) => {
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => resolve(n.params.uri));
});
await client.subscribeResource({ uri: how.uri });
appendFileSync(how.file, "\nChanged.\n");
seen.updated = await Promise.race([updated, new Promise((resolve) => setTimeout(() => resolve("nothing"), 60000))]);
await client.close();
console.log(JSON.stringify(seen));
process.exit(0);
