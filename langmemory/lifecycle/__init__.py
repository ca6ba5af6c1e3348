"""What time does to memory, and what it leaves behind: pure, as formation is.

So far the journal: a page a day, made of what the store hands in.
"""
