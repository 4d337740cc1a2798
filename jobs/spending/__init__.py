"""Calls and costs of a run, counted before anything is asked."""
