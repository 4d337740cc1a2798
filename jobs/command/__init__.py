"""Begins and ends every verb: errors in words, exit codes, signals, packages that are not installed."""
