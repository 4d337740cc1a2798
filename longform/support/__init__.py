"""Support of claims by documents, measured in shared words."""
