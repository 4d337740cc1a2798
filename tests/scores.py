"""How near each other the same score is when another batch, thread or processor has added it up."""

ONE_STEP = 1.5e-4
"""A reranker's logits have 4 decimals: two within this are at most one step of the last apart."""
