"""The address of the summaries that a number is the mean of."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from longform.results.columns import Columns, text_in

MATRIX = "matrix.html"
"""The page of queries and systems, beside the pages with tables."""

_FIELDS = ("summarizer", "setting", "judge", "dataset")


def summaries_fragment(row: Columns, measure: str) -> str:
    """
    Return the fragment that names the summaries whose mean a row states, and the measure that is meant.

    Its form is that of a query string: `summarizer=S&setting=T&judge=J&dataset=D&measure=M`, always in this order.
    Each value is percent-encoded (UTF-8, a space is `%20`, `/` is `%2F`), so that `new URLSearchParams(...)` of a
    browser and `urllib.parse.parse_qs` read it. A field that a row does not have, or that is None, is left out: a row
    without `judge` is of a measure without a judge, and one without `dataset` is of a run with one data set or none
    stated. The whole address is `matrix.html#` and the fragment.

    Args:
        row: With `summarizer` and `setting`, as in `cells`.
        measure: Its name in `scores`, as `joint`.

    Returns:
        Such as `summarizer=offline&setting=bm25%2F4000&judge=lexical&measure=joint`, without `#`.
    """
    named = [(field, value) for field in _FIELDS if (value := text_in(row, field))]
    return urlencode([*named, ("measure", measure)], quote_via=quote, safe="")
