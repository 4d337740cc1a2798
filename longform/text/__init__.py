"""Texts taken apart: words, sentences, statements, windows and citations."""
