"""
Vectors of texts beside a benchmark, so that a text is embedded once for all systems, stages, processes and runs.

The table of an encoder is the folder `vectors/KEY` of the benchmark, where KEY is made from the model's content. It is
a cache: nothing depends on it, and it may be deleted. Whoever embeds a text first puts its vector there. Vectors wait
in memory until there are enough of them for a shard; a shard appears whole and never changes, so that several processes
write at once and each may die at any moment. One that is torn or foreign is left out. Shards on S3 are copied once into
a folder of this machine and mapped there. A shard is one immutable file of text keys and their vectors, read by memory
map:

    8 bytes     the mark of the format
    4, 4, 8     little-endian: dimensions, zero, texts
    32          SHA-256 of all that follows
    16 each     the beginning of the SHA-256 of each text, sorted
    2 each      the vectors in the same order, float16, texts x dimensions
"""

from __future__ import annotations

import hashlib
import logging
import mmap
import struct
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from longform.keys import content_key

FOLDER = "vectors"
"""The folder of the tables in a benchmark."""

_LOG = logging.getLogger(__name__)

_SUFFIX = ".vectors"
_NOTE = "README.txt"
_WORDS = b"Vectors of the benchmark's texts, kept by longform. Nothing depends on this folder; it may be deleted.\n"
_FULL_SHARD = 1024  # vectors; a second or more of embedding is lost with a process that is killed
_A_SHARD = 8  # vectors more to wait for, for each shard there is: the number of shards grows with the root of the texts
_ASK_AGAIN = 64  # texts not found before others' new shards are looked for: a listing costs as much as some texts

KEY = np.dtype([("high", "<u8"), ("low", "<u8")])
"""The key of a text, in two halves."""

Keys = NDArray[np.void]
Halves = NDArray[np.float16]

_MARK = b"LFVECT01"
_HEAD = struct.Struct("<8sIIQ32s")
_KEY_BYTES = 16


class Shard(NamedTuple):
    """A shard, mapped into memory."""

    keys: Keys  # shape (texts,)
    vectors: Halves  # shape (texts, dimensions)
    n_bytes: int


def keys_of(texts: Sequence[str]) -> Keys:
    """Return the key of each text, shape (texts,)."""
    digests = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_KEY_BYTES] for text in texts)
    return np.frombuffer(b"".join(digests), dtype=KEY)


def shard_bytes(keys: Keys, vectors: Halves) -> bytes:
    """Return the content of the file that holds *vectors* under *keys*, in any order."""
    order = np.argsort(keys, order=("high", "low"))
    body = keys[order].tobytes() + np.ascontiguousarray(vectors[order], dtype="<f2").tobytes()
    head = _HEAD.pack(_MARK, vectors.shape[1], 0, len(keys), hashlib.sha256(body).digest())
    return head + body


def open_shard(file: Path) -> Shard:
    """
    Map a shard into memory, and check it whole.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no shard, or not all of one; the message says what was found.
    """
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        if size < _HEAD.size:
            raise ValueError(f"expected at least {_HEAD.size} bytes, found {size}")
        content = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    mark, dimensions, _, n_texts, digest = _HEAD.unpack_from(content)
    if mark != _MARK:
        raise ValueError(f"expected the mark {_MARK!r}, found {mark!r}")
    vectors_at = _HEAD.size + n_texts * _KEY_BYTES
    expected = vectors_at + n_texts * dimensions * 2
    if size != expected:
        raise ValueError(f"expected {expected} bytes, found {size}")
    if hashlib.sha256(content[_HEAD.size :]).digest() != digest:
        raise ValueError("its content is not what its head says")
    keys = np.frombuffer(content, dtype=KEY, count=n_texts, offset=_HEAD.size)
    vectors = np.frombuffer(content, dtype="<f2", count=n_texts * dimensions, offset=vectors_at)
    return Shard(keys, vectors.reshape(n_texts, dimensions), size)


# ---------------------------------------------------------------- a table of shards


class VectorsPlace(NamedTuple):
    """The place of the tables of a benchmark."""

    bench: str
    max_bytes: int  # size at which the shards of one encoder take no further vectors


class VectorTable:
    """The vectors of one encoder beside one benchmark, as this process sees and extends them."""

    def __init__(self, place: VectorsPlace, key: str, *, cache: Path) -> None:
        self._folder = Folder(place.bench).child(FOLDER).child(key)
        self._max_bytes = place.max_bytes
        remote = "://" in place.bench
        self._cache = cache / content_key(self._folder.url) if remote else None
        self._shards: list[Shard] = []
        self._seen: set[str] = set()
        self._waiting: dict[str, NDArray[np.float16]] = {}
        self._reads = self._writes = True
        self._index = _Index.of([])
        self._look()

    @property
    def dimensions(self) -> int | None:
        """Return the length of a vector; None if there is none yet."""
        return self._shards[0].vectors.shape[1] if self._shards else None

    def find(self, texts: Sequence[str]) -> dict[str, NDArray[np.float16]]:
        """Return the vectors of those *texts* that are there."""
        found = self._found(texts)
        left = [text for text in texts if text not in found]
        if len(left) >= _ASK_AGAIN and self._look():
            found |= self._found(left)
        return found

    def add(self, texts: Sequence[str], vectors: Halves) -> None:
        """Take the vectors of *texts* that were not found, shape (texts, dimensions); they are kept with the next."""
        if self._writes:
            self._waiting.update(zip(texts, vectors, strict=True))
            if len(self._waiting) >= _FULL_SHARD:
                self._write()

    def save(self, *, all_of_them: bool) -> None:
        """Write the vectors that wait if they are worth a shard, or *all_of_them*. A fault ends writing, no more."""
        enough = 1 if all_of_them else min(_FULL_SHARD, _A_SHARD * len(self._shards))
        if self._waiting and len(self._waiting) >= enough:
            self._write()

    # ------------------------------------------------------------ inside

    def _found(self, texts: Sequence[str]) -> dict[str, NDArray[np.float16]]:
        found = {text: self._waiting[text] for text in texts if text in self._waiting}
        asked = [text for text in texts if text not in found]
        for places, shard, rows in self._index.places(keys_of(asked)):
            found |= zip((asked[at] for at in places), self._shards[shard].vectors[rows], strict=True)
        return found

    def _look(self) -> bool:
        """Open the shards that are new, and return whether there are any. A fault ends looking, no more."""
        try:
            names = [name for name in self._folder.names() if name.endswith(_SUFFIX)] if self._reads else []
        except StorageError as error:
            _LOG.info("%s is read no more: %s", self._folder.url, error)
            self._reads = False
            return False
        self._tidy(names)
        opened = [shard for name in names if name not in self._seen if (shard := self._opened(name)) is not None]
        self._seen.update(names)
        return self._hold(opened)

    def _hold(self, opened: Sequence[Shard]) -> bool:
        width = self.dimensions or (opened[0].vectors.shape[1] if opened else 0)
        fitting = [shard for shard in opened if shard.vectors.shape[1] == width]
        self._shards += fitting
        if fitting:
            self._index = _Index.of(self._shards)
        return bool(fitting)

    def _opened(self, name: str) -> Shard | None:
        try:
            return open_shard(self._local(name))
        except (OSError, ValueError) as error:  # deleted since, torn or foreign: its texts are embedded again
            _LOG.warning("%s/%s is left out: %s", self._folder.url, name, error)
            return None

    def _local(self, name: str) -> Path:
        """Return the file of a shard; one on S3 is copied first."""
        if self._cache is None:
            return Path(self._folder.url) / name
        copied = self._cache / name
        if not copied.is_file():
            self._cache.mkdir(parents=True, exist_ok=True)
            unfinished = copied.with_name(f"{name}.{uuid.uuid4().hex}.tmp")
            try:
                self._folder.download(name, unfinished)
                unfinished.replace(copied)
            finally:
                unfinished.unlink(missing_ok=True)
        return copied

    def _tidy(self, names: Sequence[str]) -> None:
        """Remove copies of shards that S3 has no more."""
        if self._cache is not None and self._cache.is_dir():
            for copied in self._cache.glob(f"*{_SUFFIX}"):
                if copied.name not in names:
                    copied.unlink(missing_ok=True)

    def _write(self) -> None:
        self._look()
        asked = list(self._waiting)  # of which another process may have written some
        known = {asked[at] for places, _, _ in self._index.places(keys_of(asked)) for at in places}
        left = {text: vector for text, vector in self._waiting.items() if text not in known}
        self._waiting = {}
        if not left:
            return
        content = shard_bytes(keys_of(list(left)), np.stack(list(left.values())))
        used = sum(shard.n_bytes for shard in self._shards)
        if used + len(content) > self._max_bytes:
            self._stop(f"is full: {megabytes(used)} of at most {megabytes(self._max_bytes)}")
            return
        name = f"{uuid.uuid4().hex}{_SUFFIX}"
        try:
            self._folder.write_bytes(name, content)
        except StorageError as error:
            self._stop(str(error))
            return
        self._seen.add(name)
        if (shard := self._opened(name)) is not None:
            self._hold([shard])

    def _stop(self, why: str) -> None:
        self._writes = False
        _LOG.info("%s: no more vectors are kept: %s", self._folder.url, why)


class _Index(NamedTuple):
    """The keys of all shards, sorted by their first half; each array of shape (texts,)."""

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    shard: NDArray[np.int32]
    row: NDArray[np.int32]

    @classmethod
    def of(cls, shards: Sequence[Shard]) -> _Index:
        keys = np.concatenate([np.empty(0, dtype=KEY), *(shard.keys for shard in shards)])
        order = np.argsort(keys["high"], kind="stable")
        numbers = np.repeat(np.arange(len(shards), dtype=np.int32), [len(shard.keys) for shard in shards])
        rows = [np.arange(len(shard.keys), dtype=np.int32) for shard in shards]
        row = np.concatenate([np.empty(0, dtype=np.int32), *rows])
        return cls(keys["high"][order], keys["low"][order], numbers[order], row[order])

    def places(self, keys: Keys) -> list[tuple[NDArray[np.int64], int, NDArray[np.int32]]]:
        """Return (places among *keys*, shard, rows in it) of those keys that are there, one for each shard."""
        if not len(self.high) or not len(keys):
            return []
        at = np.minimum(np.searchsorted(self.high, keys["high"]), len(self.high) - 1)
        there = np.flatnonzero((self.high[at] == keys["high"]) & (self.low[at] == keys["low"]))
        of_shard = self.shard[at[there]]
        return [
            (there[of_shard == shard], shard, self.row[at[there[of_shard == shard]]])
            for shard in np.unique(of_shard).tolist()
        ]


# ---------------------------------------------------------------- the tables of this process

_tables: dict[tuple[VectorsPlace, str], VectorTable] = {}
_place: list[VectorsPlace] = []


def use_vectors(place: VectorsPlace | None) -> None:
    """Let the encoders of this process read and extend the tables at *place* from now on; None: none."""
    _place[:] = [] if place is None else [place]


def current_table(key_of: Callable[[str], str], model: str, *, cache: Path) -> VectorTable | None:
    """
    Return the table of an encoder where this process keeps vectors; None if it keeps none.

    *model* is the folder, or the place where the model is asked, and *key_of* gives the key of its vectors.
    """
    if not _place:
        return None
    wanted = (_place[0], key_of(model))
    if wanted not in _tables:
        _tables[wanted] = VectorTable(*wanted, cache=cache)
    return _tables[wanted]


def save_vectors(*, all_of_them: bool = False) -> None:
    """Write what waits in the tables of this process, as `VectorTable.save` says."""
    for table in _tables.values():
        table.save(all_of_them=all_of_them)


def forget_tables() -> None:
    """Write all that waits, and let the tables go."""
    save_vectors(all_of_them=True)
    _tables.clear()


# ---------------------------------------------------------------- for a command


def vectors_fault(place: VectorsPlace) -> str | None:
    """Make the folder of the tables, and return why it cannot be written; None if it can."""
    try:
        Folder(place.bench).child(FOLDER).create_bytes(_NOTE, _WORDS)
    except StorageError as error:
        return str(error)
    return None


def vectors_bytes(bench: str) -> int:
    """Return the bytes of the shards of all encoders beside a benchmark."""
    return sum(size for name, size in Folder(bench).sizes(FOLDER).items() if name.endswith(_SUFFIX))


def megabytes(n_bytes: int) -> str:
    """Return a size in words."""
    return f"{n_bytes / 1e6:,.1f} MB"
