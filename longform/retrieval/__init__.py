"""Ranking documents and packing them into a prompt."""
