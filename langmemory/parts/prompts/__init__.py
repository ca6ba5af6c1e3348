"""The log of prompts: what models were given of memory, when, and what it cost."""
