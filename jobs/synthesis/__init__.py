"""The commands that make benchmarks: plans, workers, audits and words."""
