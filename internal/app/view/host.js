// The page and its host speak JSON-RPC in messages between windows (MCP Apps, revision 2026-01-26).

const host = { can: {}, waiting: new Map(), next: 1 };

function send(message) {
  // The host's origin is not known to a page without one. What is sent is the person's own, to the window that has it.
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

// request asks the host and returns a promise of the result.
function request(method, params) {
  const id = host.next++;
  return new Promise((resolve, reject) => {
    host.waiting.set(id, { resolve, reject });
    send({ id, method, params });
  });
}

// call calls a tool of the server through the host, which confirms it with the person as its rules are. The promise
// fails with the words of the tool if it refuses.
async function call(name, args) {
  const result = await request("tools/call", { name, arguments: args }).catch(failure => {
    throw new Error("Your host or the server did not do it: " + failure.message);
  });
  if (result.isError) {
    throw new Error((result.content || []).map(part => part.text || "").join("\n") || "It was not possible.");
  }
  return result.structuredContent || {};
}

// tell lets the model know what the person did here, by ids only.
function tell(text) {
  if (host.can.updateModelContext) {
    request("ui/update-model-context", { content: [{ type: "text", text }] }).catch(() => {});
  }
}

function dress(context) {
  const root = document.documentElement;
  if (context.theme === "dark" || context.theme === "light") {
    root.dataset.theme = context.theme;
  }
  const variables = (context.styles && context.styles.variables) || {};
  for (const [name, value] of Object.entries(variables)) {
    if (/^--[a-z0-9-]+$/.test(name) && typeof value === "string") {
      root.style.setProperty(name, value);
    }
  }
}

let lastHeight = 0;
function fit() {
  const height = Math.ceil(document.querySelector("main").getBoundingClientRect().height);
  if (height !== lastHeight) {
    lastHeight = height;
    send({ method: "ui/notifications/size-changed", params: { height } });
  }
}

// handlers are what the host sends. A request is answered with what its handler returns.
const handlers = {
  "ui/notifications/tool-input": params => { host.input = params.arguments || {}; },
  "ui/notifications/tool-result": params => show(params),
  "ui/notifications/tool-cancelled": () => note("The call was cancelled."),
  "ui/notifications/host-context-changed": params => dress(params),
  "ui/resource-teardown": () => ({}),
  "ping": () => ({}),
};

window.addEventListener("message", event => {
  const message = event.data;
  // Only the window that contains the page is its host.
  if (event.source !== window.parent || !message || message.jsonrpc !== "2.0") {
    return;
  }
  if (message.method === undefined) {
    const waiting = host.waiting.get(message.id);
    host.waiting.delete(message.id);
    if (waiting && message.error) {
      waiting.reject(new Error(message.error.message || "The host refused it."));
    } else if (waiting) {
      waiting.resolve(message.result || {});
    }
    return;
  }
  const handler = Object.hasOwn(handlers, message.method) ? handlers[message.method] : undefined;
  const result = handler && handler(message.params || {});
  if (message.id === undefined) {
    return;
  }
  if (handler) {
    send({ id: message.id, result: result || {} });
  } else {
    send({ id: message.id, error: { code: -32601, message: "there is no such method" } });
  }
});

async function connect() {
  const answer = await request("ui/initialize", {
    appInfo: { name: "yamo-memory", version: "1" },
    appCapabilities: { availableDisplayModes: ["inline"] },
    protocolVersion: "2026-01-26",
  });
  host.can = answer.hostCapabilities || {};
  dress(answer.hostContext || {});
  const info = (answer.hostContext || {}).toolInfo;
  host.tool = info && info.tool && info.tool.name;
  new ResizeObserver(fit).observe(document.querySelector("main"));
  send({ method: "ui/notifications/initialized", params: {} });
}
