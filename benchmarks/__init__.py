"""Speed against LangGraph's own stores, and what recall is tried on; see README.md."""
