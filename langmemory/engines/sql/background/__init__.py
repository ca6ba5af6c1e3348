"""Work for later: the queue, turns not read yet, what the journal is written from."""
