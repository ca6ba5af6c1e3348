"""What a read may touch: filters, viewers, and how things stood at a time."""
