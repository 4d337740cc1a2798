"""A chat call as values: requests, replies, prices, retries and what is known of a provider."""
