"""Summaries: how they are asked for, read, and written offline."""
