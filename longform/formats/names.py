"""Names of the formats that ship, apart from their readers so that a command line can list them without these."""

from __future__ import annotations

from collections.abc import Mapping

NAMES = ("summhay", "longformfact", "msrs", "key_points", "beir", "jsonl", "folder", "csv", "hf", "trec")

EXPORTED: Mapping[str, str] = {
    "summhay": "summaries and one judge's labels as SummHay's own JSON",
    "trec": "rankings and judgements as TREC runs and qrels, for trec_eval and pytrec_eval",
    "ir_measures": "the same with binary judgements and the measures by which ir_measures finds the report's numbers",
    "beir": "corpus, queries and judgements as BEIR folders, and rankings as JSON",
    "csv": "scores, cells and summaries as CSV",
    "parquet": "the run's tables as one Parquet file each",
    "inspect": "a log of Inspect AI for each system: queries, texts, scores",
    "hf": "a data set of Hugging Face: Parquet files and a card",
    "latex": "the table of systems in LaTeX (booktabs)",
}
"""Name -> meaning, of the formats that `longform export` writes."""

FULL_CONTEXT = "full"
"""The setting of summaries of all documents, where a release says it of itself."""
