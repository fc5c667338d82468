// A program on the bare TypeScript SDK: it lists the tools, then adds a source, which needs more.
// It prints the addresses that its user is to open, the tools, and what came of adding.
import { createServer } from "node:http";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StreamableHTTPClientTransport, StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const endpoint = new URL(process.argv[2]);
let deliver;
const callbacks = createServer((request, response) => {
  response.setHeader("Content-Type", "text/html");
  response.end("<title>Done</title><h1>You can close this page.</h1>");
  const code = new URL(request.url, "http://127.0.0.1").searchParams.get("code");
  if (code) deliver(code);
});
await new Promise((listening) => callbacks.listen(0, "127.0.0.1", listening));
const redirectUrl = `http://127.0.0.1:${callbacks.address().port}/callback`;
const kept = {};
const provider = {
  redirectUrl,
  clientMetadata: {
    client_name: "TypeScript SDK",
    redirect_uris: [redirectUrl],
    token_endpoint_auth_method: "none",
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  redirectToAuthorization: (address) => {
    kept.code = new Promise((resolve) => { deliver = resolve; });
    process.stdout.write(`${address}\n`);
  },
};

/**
 * Call the server; each time that it needs its user, begin again once the user has decided. On
 * 403 insufficient_scope the SDK refreshes its tokens, which gives no more: they are forgotten.
 */
async function call(use) {
  const transport = new StreamableHTTPClientTransport(endpoint, { authProvider: provider });
  const client = new Client({ name: "bare-sdk", version: "1" });
  try {
    await client.connect(transport);
    return await use(client);
  } catch (error) {
    if (error instanceof StreamableHTTPError && error.code === 403) kept.tokens = undefined;
    else if (error instanceof UnauthorizedError) await transport.finishAuth(await kept.code);
    else throw error;
    return await call(use);
  } finally {
    await client.close();
  }
}

const { tools } = await call((client) => client.listTools());
process.stdout.write(`tools: ${tools.map((tool) => tool.name)}\n`);
const source = { name: "add_source", arguments: { url: "example.org/x" } };
const answer = await call((client) => client.callTool(source));
process.stdout.write(`added: ${answer.content[0].text}\nscope: ${kept.tokens.scope}\n`);
process.exit();
