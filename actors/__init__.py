"""Things that hold a model, an index, a client or a folder: one class, one file."""
