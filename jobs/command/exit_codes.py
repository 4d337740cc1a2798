"""Exit codes of every verb; besides, 130 if a command was interrupted, and 143 if it was terminated."""

DONE, FAILED, USAGE, FAILURES_ABOVE_THRESHOLD, BUDGET_REACHED, WORSE = 0, 1, 2, 3, 4, 5
