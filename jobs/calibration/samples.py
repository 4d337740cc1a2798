"""Samples of labelled summaries, as they were drawn: beside the sheets, and with the labels once these are read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from actors.storage.folder import Folder, file_place
from longform.results.corrected import Sample

BESIDE_SHEETS = "sample.json"
WITH_LABELS = "label_samples.json"


def note_sample(sheets: str, sample: Sample) -> None:
    """Keep a sample beside its sheets, with those that are there."""
    _add(Folder(sheets), BESIDE_SHEETS, [sample])


def samples_beside(sheets: Iterable[str]) -> list[Sample]:
    """Return the samples that stand beside sheets; none if these were moved without them."""
    folders = {folder.url: folder for folder, _ in map(file_place, sheets)}
    return [sample for folder in folders.values() for sample in _read(folder, BESIDE_SHEETS)]


def keep_samples(labels: Folder, samples: Sequence[Sample]) -> None:
    """Keep samples with the labels of a run or benchmark."""
    if samples:
        _add(labels, WITH_LABELS, samples)


def kept_samples(labels: Folder) -> list[Sample]:
    """Return the samples that are kept with labels."""
    return _read(labels, WITH_LABELS)


def _add(folder: Folder, name: str, samples: Sequence[Sample]) -> None:
    there = _read(folder, name)
    new = [sample for sample in samples if sample not in there]
    if new:
        folder.write_json(name, [*there, *new])


def _read(folder: Folder, name: str) -> list[Sample]:
    found: list[Sample] = folder.read_json(name) if folder.has(name) else []
    return found
