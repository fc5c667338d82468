// Relays MCP between standard input and output and the endpoint of a Cuebase server.
// Claude Desktop runs it in the Node that it brings; nothing else is needed.
import { createInterface } from "node:readline";

const VERSION = "io.modelcontextprotocol/protocolVersion";
const NAMED = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };
const REFUSALS = {
  401: "The server refuses the token. Make another on its Tokens page.",
  403: "The token may not do this.",
  404: "There is no Cuebase at this address.",
  421: "The server does not know itself by this name. Its operator adds it to ALLOWED_HOSTS.",
};
const endpoint = `${(process.env.CUEBASE_URL ?? "").replace(/(\/mcp)?\/*$/, "")}/mcp`;
let negotiated = ""; // version of the protocol, once a handshake has settled it

function write(message) {
  negotiated = message.result?.protocolVersion ?? negotiated;
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function encoded(value) {
  const isPlain = /^[\x20-\x7e]*$/.test(value) && value === value.trim();
  return isPlain ? value : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

function headersOf({ method = "", params = {} }) {
  const headers = {
    Accept: "application/json, text/event-stream",
    Authorization: `Bearer ${process.env.CUEBASE_TOKEN ?? ""}`,
    "Content-Type": "application/json",
    "Mcp-Method": method,
  };
  const version = params._meta?.[VERSION] ?? negotiated;
  if (version) headers["MCP-Protocol-Version"] = version;
  const name = params[NAMED[method]];
  if (name) headers["Mcp-Name"] = encoded(String(name));
  return headers;
}

function parsed(text) {
  try {
    const message = JSON.parse(text);
    return message?.jsonrpc ? message : null;
  } catch {
    return null;
  }
}

async function* messages(response) {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    yield parsed(await response.text());
    return;
  }
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.startsWith("data:")) yield parsed(line.slice(5));
    }
  }
}

async function forward(message) {
  let isAnswered = message.id === undefined || message.method === undefined;
  let reason;
  try {
    const request = { method: "POST", headers: headersOf(message), body: JSON.stringify(message) };
    const response = await fetch(endpoint, request);
    for await (const answer of messages(response)) {
      if (!answer) continue;
      write(answer);
      isAnswered ||= answer.id === message.id;
    }
    reason = REFUSALS[response.status] ?? `The server answered ${response.status}.`;
  } catch (error) {
    reason = `The server at ${endpoint} does not answer: ${error.cause?.message ?? error.message}`;
  }
  if (!isAnswered) {
    write({ jsonrpc: "2.0", id: message.id, error: { code: -32000, message: reason } });
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = parsed(line);
  if (message) forward(message);
});
