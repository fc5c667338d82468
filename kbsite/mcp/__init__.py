"""The MCP endpoint: what language models read, search and fetch through, at /mcp."""
