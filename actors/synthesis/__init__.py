"""The models that a synthesis asks, and those without a model that rehearse it: an annex, no core room imports it."""
