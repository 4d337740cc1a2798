"""
The scripted writer, verifier and extractor of a synthesis, chosen by the name of a model.

    scripted-writer:seed=1,leaks=0.2,omissions=0.1,duplicates=0.1,invalid_json=0.05,refusals=0.05
    scripted-verifier:seed=2,errors=0.05
    scripted-extractor:seed=3,strays=0.1,doubles=0.1,gaps=0.1,prose=0.05

The options are the fields of `WriterFaults`, `VerifierFaults` and `ExtractorFaults`; those left out are 0. The verifier
answers questions about key points, too, without a fault.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache

from actors.rehearsal.scripted_chat import Said
from actors.synthesis.scripted_key_points import ExtractorFaults, extracted
from actors.synthesis.scripted_verifier import VerifierFaults, verify
from actors.synthesis.scripted_writer import WriterFaults, write
from longform.errors import UsageError

Faults = WriterFaults | VerifierFaults | ExtractorFaults

_KINDS: dict[str, type[Faults]] = {
    "scripted-writer": WriterFaults,
    "scripted-verifier": VerifierFaults,
    "scripted-extractor": ExtractorFaults,
}


def say(prompt: str, model: str) -> Said | None:
    """
    Return the reply of *model* to *prompt*; None if it is none of these, or is asked for another task.

    Raises:
        UsageError: The name has options that it does not know.
    """
    faults = scripted_faults(model)
    if isinstance(faults, WriterFaults):
        written = write(prompt, faults)
        return None if written is None else Said(written.text, written.is_refusal)
    if isinstance(faults, VerifierFaults):
        text = verify(prompt, faults)
        return _of_key_points(prompt, ExtractorFaults()) if text is None else Said(text, is_refusal=False)
    return None if faults is None else _of_key_points(prompt, faults)


def _of_key_points(prompt: str, faults: ExtractorFaults) -> Said | None:
    said = extracted(prompt, faults)
    return None if said is None else Said(said.text, is_refusal=False, logprobs=said.logprobs)


@cache
def scripted_faults(model: str) -> Faults | None:
    """
    Return the faults that the name of a model states; None if it is not a name of a scripted one.

    Raises:
        UsageError: It is one, with options that it does not know.
    """
    name, _, said = model.partition(":")
    if name not in _KINDS:
        return None
    kind = _KINDS[name]
    known = [one.name for one in fields(kind)]
    options: dict[str, float] = {}
    for part in filter(None, said.split(",")):
        key, _, value = part.partition("=")
        try:
            options[key] = int(value) if key == "seed" else float(value)
        except ValueError:
            options[f"{part} (no number)"] = 0.0
    if unknown := sorted(options.keys() - set(known)):
        raise UsageError(f"model {model!r}: expected options of {known}, each =NUMBER, found {unknown}")
    return kind(**options)  # type: ignore[arg-type]
