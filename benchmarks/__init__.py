"""Speed against LangGraph's own stores, and the data sets of recall; see README.md."""
