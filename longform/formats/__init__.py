"""Readers of the files others make: what a release, a BEIR folder or a user's own folder holds, as typed rows."""
