"""What a fake provider is told to do, and the best that its client can reach."""
