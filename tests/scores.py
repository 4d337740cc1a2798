"""Tolerances of equal scores that another batch, thread or processor has added up."""

ONE_STEP = 1.5e-4
"""A reranker's logits have 4 decimals: two within this are at most one step of the last apart."""
