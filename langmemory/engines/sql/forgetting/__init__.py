"""Taking somebody or something out of the file for good, and proving it."""
