"""The door for agents: the Model Context Protocol. Only this package imports `mcp`."""
