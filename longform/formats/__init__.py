"""Read the files of a release, a BEIR folder or a user's own folder into typed rows."""
