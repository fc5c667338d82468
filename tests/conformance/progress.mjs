// A program on the TypeScript SDK: it asks a question over MCP and prints what it hears meanwhile.
// Arguments: the address and a token; or, with "--", a command that speaks MCP on its pipes.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [question, first, ...rest] = process.argv.slice(2);
const transport = first === "--"
  ? new StdioClientTransport({ command: rest[0], args: rest.slice(1) })
  : new StreamableHTTPClientTransport(new URL(first), {
    requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } },
  });
const client = new Client({ name: "progress", version: "1" });
await client.connect(transport);
const heard = [];
const result = await client.callTool(
  { name: "ask_knowledge_base", arguments: { question } },
  undefined,
  { onprogress: (progress) => heard.push(progress), timeout: 60_000 },
);
process.stdout.write(`${JSON.stringify({ heard, text: result.content[0].text })}\n`);
await client.close();
process.exit(0);
