"""Programs that speak MCP: how each is connected to this library."""
