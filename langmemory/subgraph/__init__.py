"""The knowledge graph as something to read: entities, paths, exports, a picture."""
