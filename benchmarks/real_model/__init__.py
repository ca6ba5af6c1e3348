"""What a small language model does to memory; see ``python -m benchmarks.real_model``."""
