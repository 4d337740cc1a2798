"""From a run's tables to `results.json` and the report."""
