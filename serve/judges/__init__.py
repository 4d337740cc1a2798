"""Judges of a configuration, loaded and asked by the items of a request."""
