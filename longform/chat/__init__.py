"""A chat call as values: requests, replies, prices, retries and known limits of a provider."""
