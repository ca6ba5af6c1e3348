"""The demo: ten months of conversation, asked about, turned into knowledge, and shown as a model gets them."""
