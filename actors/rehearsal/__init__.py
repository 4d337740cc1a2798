"""A provider without a model, and the scripted models behind it."""
