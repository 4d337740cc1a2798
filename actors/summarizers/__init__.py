"""Summarizers: written by a chat model or quoted offline."""
