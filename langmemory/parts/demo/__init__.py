"""The demo: ten months of conversation, asked about, turned into knowledge, shown as a model gets them."""
