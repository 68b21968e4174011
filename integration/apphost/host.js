"use strict";
// A host of MCP Apps: the extension's SDK checks every message of the app, and tool calls go to the program under test.

console.debug = () => {}; // the SDK reports each message

const problems = []; // what the host found wrong
const calls = []; // of the app
const told = []; // what the model is told

async function ask(path, body) {
  const answer = await fetch(path, { method: "POST", body: JSON.stringify(body || {}) });
  if (!answer.ok) {
    throw new Error(await answer.text());
  }
  return answer.json();
}

// open shows the app of a tool with the result of a call.
async function open(name, args, theme) {
  const tools = await ask("/tools");
  const tool = tools.find(t => t.name === name);
  const uri = bridge.getToolUiResourceUri(tool);
  if (bridge.isToolVisibilityAppOnly(tool)) {
    problems.push(name + " is not for the model");
  }
  const contents = await ask("/read", { uri });
  if (contents.mimeType !== "text/html;profile=mcp-app") {
    problems.push("the type of the app is " + contents.mimeType);
  }
  const frame = document.getElementById("app");
  const host = new bridge.AppBridge(null, { name: "a host", version: "1" },
    { serverTools: {}, updateModelContext: { text: {} } },
    { hostContext: { theme, toolInfo: { tool }, displayMode: "inline", availableDisplayModes: ["inline"] } });
  host.oncalltool = async params => {
    calls.push(params);
    if (!tools.some(t => t.name === params.name)) {
      throw new Error("there is no tool " + params.name);
    }
    return ask("/call", params);
  };
  host.onupdatemodelcontext = async params => {
    told.push(params.content.map(part => part.text).join(""));
    return {};
  };
  host.onsizechange = ({ height }) => { frame.style.height = height + "px"; };
  host.onerror = error => problems.push(String(error));
  const ready = new Promise(resolve => { host.oninitialized = resolve; });
  await host.connect(new bridge.PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = contents.text;
  await ready;
  await host.sendToolInput({ arguments: args });
  await host.sendToolResult(await ask("/call", { name, arguments: args }));
  window.host = host;
  return "shown";
}
