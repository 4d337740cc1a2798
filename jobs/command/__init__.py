"""
Begins and ends every verb: errors in words, exit codes, signals, packages that are not installed.

Besides the exit codes below there is 130 of a command that was interrupted, and 143 of one that was terminated.
"""

DONE, FAILED, USAGE, FAILURES_ABOVE_THRESHOLD, BUDGET_REACHED, WORSE = 0, 1, 2, 3, 4, 5
