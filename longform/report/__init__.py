"""Results as Markdown and as a page that needs no network."""
