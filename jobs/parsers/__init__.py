"""Command lines of the verbs. What they import is small, so that help and wrong words are answered at once."""
