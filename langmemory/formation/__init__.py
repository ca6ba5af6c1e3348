"""Formation: from what was said to a change set. Nothing here writes, and nothing knows LangGraph."""
