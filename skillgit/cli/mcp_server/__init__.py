"""The MCP server: each tool is one skillgit command, run as a child process. Needs the `mcp` extra."""
