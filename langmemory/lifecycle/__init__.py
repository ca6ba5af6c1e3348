"""What time does to memory, and what it leaves behind: pure, as formation is."""
