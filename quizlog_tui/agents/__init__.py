"""The door for agents: MCP."""
