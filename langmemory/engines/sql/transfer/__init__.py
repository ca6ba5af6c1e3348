"""Transfer: everything a file knows as plain rows, and back."""
