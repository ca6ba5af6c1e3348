"""The memory tools of the local user, to be given to any agent or `ToolNode`."""

from langmemory.tools import create_memory_tools

USER = "{user_id|local}"

memory_tools = create_memory_tools(("memories", USER), viewer=USER)
