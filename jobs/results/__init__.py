"""Makes `results.json` and the report from a run's tables."""
