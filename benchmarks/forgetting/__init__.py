"""What recall loses where a policy archives a part of the derived memories (decision 041)."""
