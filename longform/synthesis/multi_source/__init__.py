"""
Benchmarks of many sources made from long documents that have queries and summaries (MSRS, sections 3.2, 3.3 and A).

Documents are cut into chapters, queries are made to stand alone or are clustered, and what a cluster holds is merged.
"""
