"""The scope of reads: filters, viewers, and how things stood at a time."""
