"""Judges that hold a model or an index."""
