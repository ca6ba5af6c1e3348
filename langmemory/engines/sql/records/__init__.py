"""Items as rows, and all that is recorded of them: history, evidence, runs, reviews, use."""
