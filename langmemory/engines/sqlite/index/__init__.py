"""The indexes that make an item findable: its vectors and words, in the file and in memory."""
