"""Clients of served judges and rerankers."""
