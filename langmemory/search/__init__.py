"""Search: candidates for recall and answers to LangGraph's searches, from rows and from copies in memory."""
