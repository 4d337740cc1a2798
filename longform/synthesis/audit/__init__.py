"""
Audit of a benchmark with planted statements: its documents, targets and gold map, judged from outside.

Nothing here knows how the documents were made.
"""
