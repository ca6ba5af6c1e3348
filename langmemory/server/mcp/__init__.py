"""Memory over MCP: tools, resources and a prompt for Claude Code, Cursor, ChatGPT and other clients.

`langmemory mcp` serves them on stdio, `langmemory serve` on ``/memory/mcp``. Only `sdk` knows the MCP SDK.
"""
