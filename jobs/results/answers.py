"""The answer of a verb as its outcome, and as files."""

from __future__ import annotations

from actors.storage.folder import Folder
from jobs.command.run import Outcome
from longform.report.answers import answer_html, answer_markdown, answer_text
from longform.results.answer import VerbAnswer


def answered(answer: VerbAnswer, name: str, out: str | None) -> Outcome:
    """Return the outcome of a verb, once the files *name*.html, .md and .json stand in *out*; None: none is written."""
    if out is None:
        return Outcome(answer.document, answer_text(answer))
    folder = Folder(out)
    folder.write_bytes(f"{name}.html", answer_html(answer).encode())
    folder.write_bytes(f"{name}.md", answer_markdown(answer).encode())
    folder.write_json(f"{name}.json", answer.document)
    names = ", ".join(f"{name}.{kind}" for kind in ("html", "md", "json"))
    return Outcome(answer.document, f"{answer_text(answer)}\n\n{out}: {names}")
