"""Judges without a network: prompts, readings, lexical models, means, and what judges are worth."""
