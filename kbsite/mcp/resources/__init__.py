"""What MCP serves as resources."""
