"""Relations by name: inverses, synonyms in four languages, how many values they have."""
