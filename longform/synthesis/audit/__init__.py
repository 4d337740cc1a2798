"""
Audit of a benchmark with planted statements: its documents, targets and gold map, judged from outside.

Nothing here knows how the documents were made. `audit_haystack` looks at one haystack, `audit_report` puts haystacks
together.
"""

from longform.synthesis.audit.audit import VERSION, HaystackAudit, audit_haystack, audit_report
from longform.synthesis.audit.planted import HaystackFacts, Planted

__all__ = ["VERSION", "HaystackAudit", "HaystackFacts", "Planted", "audit_haystack", "audit_report"]
