"""Fit the offline judge of support that ships; see `lab.parsers.support_judge`."""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from actors.local_models.encoder import Encoder
from actors.local_models.weights import MINILM
from jobs.command.run import Outcome, run_verb
from lab.fits.support_judge import Fitting, LabelledClaim, domain_reach
from lab.parsers import support_judge
from longform.errors import UsageError
from longform.judges.lexical_support import VERSION, SupportDocument, evidence
from longform.support.index import SupportIndex
from longform.text.words import without_marks, words

_ANSWERS: Mapping[str, bool | None] = {"supported": True, "unsupported": False, "partial": None}
_EDITS = "summedits"
"""The set whose claims about one document are edits of one another."""

_RECIPE = (
    "lab/fits/support_judge.py: doubts of words by least squares on SummEdits, a logistic regression on their "
    "greatest and on what the document lacks; token recall and verbatim runs weigh what they are given; a scale and a "
    "cut by log odds with the domain left out; claims supported in part are not in the fit"
)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: expected lines of JSON, compressed by gzip, found {error}") from error


def labelled_claims(folder: Path, *, threads: int) -> list[LabelledClaim]:
    """
    Read the claims of *folder*, each with its evidence; those without a word are left out.

    Raises:
        UsageError: A file is not there, or no claims are in it.
    """
    texts = {row["document"]: row["text"] for row in _lines(folder / "documents.jsonl.gz")}
    by_document: dict[str, list[dict[str, Any]]] = {}
    for row in _lines(folder / "claims.jsonl.gz"):
        if words(without_marks(row["claim"])):
            by_document.setdefault(row["document"], []).append(row)
    encoder = Encoder(MINILM, threads=threads)
    found = []
    for document, rows in by_document.items():
        index = SupportIndex([texts[document]])
        index.with_vectors(encoder.embed(index.sentences))
        encoder.forget()
        found_here = evidence(SupportDocument(index), [row["claim"] for row in rows], encoder)
        for row, one in zip(rows, found_here, strict=True):
            is_edit = row["set"] == _EDITS
            domain = row["domain"] if is_edit else row["set"]
            found.append(LabelledClaim(domain, document, _ANSWERS[row["label"]], one, is_edit))
    if not found:
        raise UsageError(f"{folder}: expected labelled claims, found none")
    return found


def fitted(claims: Sequence[LabelledClaim]) -> dict[str, Any]:
    """Return the content of `support_judge.json`."""
    fitting = Fitting(claims)
    domains = dict(Counter(claim.domain for claim in claims))
    reach = {name: domain_reach(fitting, name) for name in domains}
    edits = [one["auroc"] for name, one in reach.items() if name in fitting.edited_domains]
    return {
        "model": fitting.fit().as_json(),
        "version": VERSION,
        "fitted_on": f"claims of SummEdits and of WiCE's development part: {domains}".replace("'", ""),
        "recipe": _RECIPE,
        "reach": {
            "how": "a domain left out at a time; its cut and scale are those of the others; partial support left aside",
            "mean_auroc_of_edits": round(float(np.mean(edits)), 3),
            "domains": reach,
        },
    }


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(support_judge(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    content = fitted(labelled_claims(arguments.folder, threads=arguments.threads))
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "support_judge.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    lines = [f"{name}: {json.dumps(one)}" for name, one in content["reach"]["domains"].items()]
    return Outcome({"reach": content["reach"]}, "\n".join(lines))
