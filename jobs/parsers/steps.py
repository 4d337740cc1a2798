"""The steps of a run, as the command line names them."""

REPORT = "report"
"""The last step; it has no stage, because it writes no table."""

STEPS = ("retrieve", "rerank", "pack", "summarize", "split", "judge", "check", "repair", "aggregate", REPORT)
"""The steps of a run in the order of the data. `--until` names steps."""
