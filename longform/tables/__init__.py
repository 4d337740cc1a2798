"""Results as tables that describe themselves: whoever shows, exports or compares one knows nothing of its study."""
