"""Retrievers and rerankers that hold an index or a model."""
