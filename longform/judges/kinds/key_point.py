"""
Key points: does a response say a key point of the documents?

Key point recall of LONG2RAG, section 3: I(x, y) is 1 if the response y entails the key point x, else 0. The whole
response is one text.
"""

from __future__ import annotations

from longform.judges.kind import Kind, settle_empty
from longform.judges.kinds.support import claim
from longform.judges.yes_no_replies import above, read_yes_or_no

NO_KEY_POINT = "key_point_without_text"
"""The failure of a key point that says nothing."""

YES, NO = "entailed", "not_entailed"


KEY_POINT = Kind(
    task="key_point",
    targets="key_point",
    shared="summary",
    unit=claim,
    fields=("response", "key_point"),
    show="\n".join,
    settle=settle_empty(NO_KEY_POINT, NO),
    read=read_yes_or_no(YES, NO),
    counts={YES: 1.0, NO: 0.0},
    decide=above(YES, NO),
    measures=("key_point_recall",),
    columns=("answer",),
    work="key_point",
    mean="mean_key_point",
)
