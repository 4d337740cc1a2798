"""The command line of the fake provider: an option for each field of its settings."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Literal, TypedDict, get_args, get_origin, get_type_hints

from longform.rehearsal.settings import ALL_FAULTS, FakeSettings


def parse_options(
    argv: Sequence[str] | None, *, description: str | None, environment: Mapping[str, str]
) -> tuple[FakeSettings, int]:
    """Return the settings and the port that a command line names; the key comes from the variable it names."""
    options = vars(_parser(description).parse_args(argv))
    port, key_env = options.pop("port"), options.pop("key_env")
    options |= {"faults": dict(options["faults"]), "refused_parameters": tuple(options["refused_parameters"])}
    return FakeSettings(**options, key=environment[key_env] if key_env else None), port


_OTHERWISE = ("faults", "key")  # have options of another form


def _parser(description: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--key-env", help="the variable that holds the key to ask for")
    parser.add_argument("--fault", dest="faults", action="append", type=_fault, default=[], metavar="KIND=SHARE")
    hints = get_type_hints(FakeSettings)
    for one in fields(FakeSettings):
        if one.name not in _OTHERWISE:
            parser.add_argument(_flag(one.name), default=one.default, **_reading(hints[one.name]))
    return parser


class _OptionReading(TypedDict, total=False):
    """Arguments of argparse for a field."""

    action: str
    choices: tuple[str, ...]
    nargs: str
    type: type


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _reading(hint: type) -> _OptionReading:
    if hint is bool:
        return {"action": "store_true"}
    if get_origin(hint) is Literal:
        return {"choices": get_args(hint)}
    if get_origin(hint) is tuple:
        return {"nargs": "*"}
    return {"type": next((kind for kind in get_args(hint) if kind is not type(None)), hint)}


def _fault(text: str) -> tuple[str, float]:
    kind, _, share = text.partition("=")
    if kind not in ALL_FAULTS:
        msg = f"expected one of {sorted(ALL_FAULTS)}, found {kind!r}"
        raise argparse.ArgumentTypeError(msg)
    return kind, float(share)
