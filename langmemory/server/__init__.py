"""The server: REST, MCP, events and the inspector, for people and for programs elsewhere.

Needs the extra ``server``. `langmemory.server.app.create_app` makes the application; `langmemory serve`
runs it.
"""
