"""Settings of a fake provider, and the best result that its client can reach."""
