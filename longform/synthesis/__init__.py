"""Benchmarks whose contents are known: written by a grammar or by chat models, and audited."""
