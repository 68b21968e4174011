// What the test's host uses of the extension's own SDK.
export { AppBridge, PostMessageTransport, getToolUiResourceUri, isToolVisibilityAppOnly }
  from "@modelcontextprotocol/ext-apps/app-bridge";
