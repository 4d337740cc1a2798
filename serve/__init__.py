"""The actors behind Ray Serve. Deployments come with serving; until then this room keeps their place."""
