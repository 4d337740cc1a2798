"""Summaries: prompts and plans of methods, replies read, and the offline summarizer."""
