"""From scores of single summaries to the tables of a run."""
