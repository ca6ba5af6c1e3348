"""The server: memory over REST, for programs in other languages and on other machines.

Needs the extra ``server``. `langmemory.server.app.create_app` makes the application; `langmemory serve`
runs it.
"""
