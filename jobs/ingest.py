"""
Read published or own files into a benchmark folder.

    longform ingest summhay topic_news3.json.gz topic_news5.json.gz --out BENCH
    longform ingest summhay eval_benchmark_data.json.gz --out HUMAN
    longform ingest longformfact generation/multixscience.jsonl.gz --out BENCH
    longform ingest msrs story/ --out BENCH
    longform ingest beir scifact/ --out BENCH
    longform ingest jsonl my_corpus/ --out BENCH
    longform ingest folder notes/ --queries questions.txt --out BENCH
    longform ingest csv articles.csv --queries questions.csv --out BENCH
    longform ingest hf saved_dataset/ --queries questions.txt --out BENCH
    longform ingest trec docs.trectext --queries topics.xml --qrels qrels.txt --run runs/ --out BENCH
    longform ingest ir_datasets beir/scifact/test --out BENCH
    longform ingest python --class my_module:MyReader notes/ --out BENCH
    longform ingest outputs answers.jsonl --bench BENCH [--out BENCH2]

Reads   SummHay's files (plain or gzipped, or a folder of topic_*.json), longformfact's (labels or inputs), a folder of
        MSRS, of BEIR or of plain JSON Lines, a folder of texts, HTML, PDF and Word files with questions, tables, a
        saved data set, a TREC collection (docs/own-files.md), or what a class of your own reads (docs/extending.md);
        outputs: answers that any system wrote to the queries of BENCH, put beside it, or beside its copy BENCH2
        (docs/outputs.md)
Writes  documents, queries, targets, qrels, rankings, summaries, labels; benchmark.json last. Malformed input: nothing
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jobs.command.parser import NUMBERING, NUMBERINGS, VerbParser
from jobs.command.run import Outcome, command
from longform.errors import UsageError
from longform.formats.names import FORMATS, OPTIONS, FormatOption

if TYPE_CHECKING:
    from actors.storage.folder import Folder
    from jobs.files.located_file import LocatedFile
    from jobs.files.write_benchmark import Manifest
    from longform.settings.python_class import PythonClassSettings

PYTHON, IR_DATASETS, OUTPUTS = "python", "ir_datasets", "outputs"
KINDS = (*FORMATS, PYTHON, IR_DATASETS, OUTPUTS)
_LOG = logging.getLogger(__name__)


def parser() -> VerbParser:
    made = VerbParser("ingest", __doc__)
    made.add_argument("kind", choices=KINDS, metavar="FORMAT", help=", ".join(KINDS))
    made.add_argument("paths", nargs="+", metavar="PATH")
    made.used.add_argument("--out", metavar="BENCH", help="where the benchmark stands; outputs: a copy of BENCH")
    groups = {"folder, csv, hf, trec": made.used}
    for option in OPTIONS:
        given: dict[str, Any] = {"metavar": "FILE" if option.files else "VALUE"}
        if option.default is False:
            given = {"action": "store_true"}
        elif len(option.told) > 1:
            given = {"choices": [*option.told]}
        if option.format not in groups:
            groups[option.format] = made.add_argument_group(option.format)
        groups[option.format].add_argument(option.flag, default=option.default, help=option.help, **given)
    outputs = made.add_argument_group("outputs")
    outputs.add_argument("--bench", metavar="BENCH", help="the benchmark whose queries are answered")
    outputs.add_argument("--numbering", choices=NUMBERINGS, help=NUMBERING)
    own = made.add_argument_group("python")
    own.add_argument("--class", dest="class_", metavar="MODULE:CLASS", help="the class or function that reads")
    told = "an option of the class, in YAML"
    own.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=told)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    if arguments.kind == OUTPUTS:
        return _outputs(arguments)
    if arguments.out is None or arguments.bench is not None or arguments.numbering is not None:
        raise UsageError(
            f"ingest {arguments.kind}: expected --out BENCH, and neither --bench nor --numbering, which are for outputs"
        )
    manifest = ingest(
        arguments.kind,
        arguments.paths,
        arguments.out,
        options={option.name: getattr(arguments, option.name) for option in OPTIONS},
        reader=_reader(arguments.class_, arguments.set),
    )
    counts = ", ".join(f"{count:,} {table}" for table, count in manifest["rows"].items() if count)
    words = f"{arguments.out}: {manifest['n_haystacks']} haystacks, {counts}"
    return Outcome({"benchmark": arguments.out, **manifest}, words)


def ingest(
    kind: str,
    urls: Sequence[str],
    out: str,
    *,
    options: Mapping[str, str | bool] | None = None,
    reader: PythonClassSettings | None = None,
) -> Manifest:
    """
    Return the manifest of the benchmark at *out* that is made of the files and folders *urls*.

    The *kind* is a format that ships, or `python`, which reads by *reader*. *options* are by the names in
    `longform.formats.names`; those left out have their defaults.

    Raises:
        UsageError: The files are none of the format, the class cannot be used, or an option is another format's.
        InputError: A file is not what its format says, or the class made rows that no benchmark can hold.
    """
    from actors.python_reader import made_by, python_files
    from actors.storage.folder import Folder
    from jobs.files.located_file import files_under
    from jobs.files.write_benchmark import write_benchmark
    from longform.settings.strict import imported

    if kind == IR_DATASETS:
        return _ingest_ir_datasets(urls, out, options or {})
    changed, made_with = _changed(kind, options or {})
    if (reader is None) == (kind == PYTHON):
        raise UsageError(f"--class MODULE:CLASS is for {PYTHON}, and needed there; found {kind}")
    if "queries" not in changed and any(option.name == "queries" and kind in option.formats for option in OPTIONS):
        raise UsageError(f"ingest {kind}: expected --queries FILE, such as a text file with a question a line")
    given = {
        option.name: _files_of(option, changed[option.name])
        for option in OPTIONS
        if option.files and option.name in changed
    }
    apart = {file.location for files in given.values() for file in files}
    named = {
        url: {
            path: file for path, file in files_under(url).items() if file.location not in apart
        }  # beside the documents
        for url in urls
    }
    if reader is not None:
        found, made_with = python_files(named, reader), made_by(reader)
    else:
        found = imported(FORMATS[kind])(named, **(changed | given))
    sources = [file.identity() | made_with for file in found.files]
    manifest = write_benchmark(out, found.haystacks, sources=sources, dataset=found.dataset)
    for table, name in (("documents", "doc_id"), ("queries", "query_id")):
        _tell_alike(Folder(out), table, name)
    return manifest


def _tell_alike(folder: Folder, table: str, name: str) -> None:
    """Say which ids differ in leading zeros or outer spaces alone: 007 of one file may be meant by 7 of another."""
    from longform.formats.json_files import SHOWN

    def ids() -> Iterator[str]:
        for batch in folder.batches(table, columns=[name]):
            yield from batch[name].to_pylist()

    odd = {plain: one for one in ids() if (plain := _plain(one)) != one}
    if alike := [f"{odd[one]!r} and {one!r}" for one in ids() if one in odd]:
        told = "%s: ids differ in leading zeros or spaces alone, and each names one of its own: %s%s"
        _LOG.warning(told, table, ", ".join(alike[:SHOWN]), ", ..." if len(alike) > SHOWN else "")


def _plain(one: str) -> str:
    bare = one.strip()
    return bare.lstrip("0") or "0" if bare.isdecimal() else bare


def _files_of(option: FormatOption, url: str | bool) -> list[LocatedFile]:
    """Return the files that an option names, each by its own path."""
    from jobs.files.located_file import files_under

    try:
        return list(files_under(str(url)).values())
    except UsageError as error:
        raise UsageError(f"{option.flag}: {error}") from error


def _ingest_ir_datasets(names: Sequence[str], out: str, options: Mapping[str, str | bool]) -> Manifest:
    """Return the manifest of the benchmark made of a data set that `ir_datasets` knows."""
    from actors.python_reader import open_ir_dataset
    from jobs.files.write_benchmark import write_benchmark
    from longform.formats.ir_rows import ir_rows

    _changed(IR_DATASETS, options)
    if len(names) != 1:
        raise UsageError(f"ingest {IR_DATASETS}: expected one name, such as beir/scifact/test, found {len(names)}")
    dataset, version = open_ir_dataset(names[0])
    sources = [{"name": names[0], "ir_datasets": version}]
    return write_benchmark(out, [ir_rows(dataset)], sources=sources, dataset=names[0])


def _changed(kind: str, options: Mapping[str, str | bool]) -> tuple[dict[str, str | bool], dict[str, str]]:
    """Return the options of a format that are not as usual, and what the manifest notes of them."""
    changed = [one for one in OPTIONS if options.get(one.name, one.default) != one.default]
    for option in changed:
        if kind not in option.formats:
            raise UsageError(f"{option.flag} is for {option.format}, found it with {kind}")
    notes = (option.note(options[option.name]) for option in changed)
    return {option.name: options[option.name] for option in changed}, dict(note for note in notes if note is not None)


def _reader(path: str | None, options: Sequence[str]) -> PythonClassSettings | None:
    from jobs.configs import validated
    from longform.settings.python_class import PythonClassSettings

    if path is None:
        if options:
            raise UsageError(f"--set is for options of a class; name it with --class, found {' '.join(options)}")
        return None
    changes = [f"options.{option}" for option in options]
    return validated(PythonClassSettings, {"kind": PYTHON, "class": path}, changes, where="ingest")


def _outputs(arguments: argparse.Namespace) -> Outcome:
    from actors.terminal import say
    from jobs.files.answer_paths import output_files
    from jobs.files.outputs import add_outputs
    from longform.formats.outputs import told_in_words

    if arguments.bench is None or arguments.class_ or arguments.set:
        raise UsageError("ingest outputs: expected --bench BENCH, and neither --class nor --set")
    _changed(OUTPUTS, {option.name: getattr(arguments, option.name) for option in OPTIONS})
    files = output_files(arguments.paths)
    added = add_outputs(arguments.bench, files, out=arguments.out, numbering=arguments.numbering)
    for line in told_in_words(added.problems):
        say(line, file=sys.stderr)
    return Outcome(added.document(), added.words())


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
