"""Tables of a run, made from scores of single summaries."""
