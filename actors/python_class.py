"""
Classes by import path (`my_module:MyClass`), on the driver and on workers: those that settings name, and users' own.

A user's module is looked for in the folder that the settings name, which is that of the configuration file, then in the
current folder, which is the submitted one in a Ray job, and among installed packages.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module, invalidate_caches
from itertools import islice
from pathlib import Path
from sysconfig import get_paths
from types import ModuleType
from typing import Any, TypeVar, get_origin

from pydantic import JsonValue

from longform.errors import LongformError, UsageError, meant
from longform.given import fitted, unfit
from longform.keys import KEY_LENGTH
from longform.settings.python_class import PythonClassSettings
from longform.settings.strict import PartSettings, imported

P = TypeVar("P")
Role = TypeVar("Role")

_FRAMES_SHOWN = 3
_PLACED = "put it beside the configuration file, or say `folder`"
_OURS = Path(__file__).resolve().parent.parent
_NOT_THEIRS = ("<frozen", *(f"{_OURS / name}/" for name in ("longform", "actors", "jobs", "serve")))
_INSTALLED = tuple(get_paths()[kind] for kind in ("stdlib", "purelib", "platlib"))


def actor_of(settings: PartSettings, role: type[Role]) -> type[Role]:
    """Return the class that does the work of a part that ships; *role* is the base of all classes of such parts."""
    actor: type[Role] = imported(settings.actor)
    assert issubclass(actor, role), f"{settings.actor} is no {role.__name__}"
    return actor


def named_value(name: str, known: Mapping[str, str], kind: type[P], *, asked: str, folder: str | None = None) -> P:
    """
    Return the value of a part that ships, by its *name* among import paths, or of a user's at an import path.

    *asked* is the key or option that names it.

    Raises:
        UsageError: There is none, or it is of another type than *kind*.
    """
    if name not in known and ":" not in name:
        raise UsageError(
            f"{asked}: expected one of {', '.join(known)}, or MODULE:NAME, found {name!r}{meant(name, known)}"
        )
    found = imported(known[name]) if name in known else load(name, folder=folder)
    if not isinstance(found, kind):
        raise UsageError(f"{name}: expected a {kind.__module__}.{kind.__name__}, found a {type(found).__name__}")
    return found


def guarded(path: str, doing: str, values: Callable[[], Iterable[P]]) -> Iterator[P]:
    """Yield values; errors of a user's code, which an import *path* names, are told as `user_code` tells them."""
    if ":" not in path:
        yield from values()
        return
    with user_code(path, doing):
        found = iter(values())
    while True:
        with user_code(path, doing):  # not around `yield`, where the reader may end
            some = list(islice(found, 1))
        if not some:
            return
        yield some[0]


def load(path: str, *, folder: str | None) -> Any:
    """
    Return the class or value at the import *path*; its module is looked for in *folder* first.

    Raises:
        UsageError: There is no such module, it cannot be imported, or it has no such name.
    """
    module_name, _, name = path.partition(":")
    module = _module(path, module_name, folder)
    if module_name in sys.builtin_module_names:
        raise UsageError(f"{path}: expected a class of one's own, as my_module:MyClass, found a part of Python itself")
    try:
        return getattr(module, name)
    except AttributeError:
        names = [known for known, value in vars(module).items() if known[0] != "_" and not inspect.ismodule(value)]
        raise UsageError(
            f"{path}: {_file(module)} has no {name!r}{meant(name, names)}; it has {sorted(names) or 'nothing'}"
        ) from None


def check_class(settings: PythonClassSettings, protocol: type) -> type:
    """
    Return the class, which can be made and used as *protocol* says; nothing is made.

    Raises:
        UsageError: It cannot be loaded, lacks a method, or does not take the options.
    """
    path = settings.class_
    found = load(path, folder=settings.folder)
    if not inspect.isclass(found):
        raise UsageError(f"{path}: expected a class, found a {type(found).__name__}")
    for name, method in vars(protocol).items():
        if inspect.isfunction(method) and name[0] != "_":
            wanted, theirs = inspect.signature(method), getattr(found, name, None)
            _check_method(path, found, name, list(wanted.parameters)[1:])
            waits = getattr(settings, "calls", None) is not None or "Awaitable" in str(wanted)
            if not waits and (inspect.iscoroutinefunction(theirs) or inspect.isasyncgenfunction(theirs)):
                raise UsageError(f"{path}: expected {name} as a plain function, found `async def`; use a plain `def`")
    _check_options(path, found, settings.options)
    return found


def open_class(settings: PythonClassSettings, protocol: type[P]) -> P:
    """
    Return an object of the class, made with the options.

    Raises:
        UsageError: As of `check_class`.
        UserCodeError: Its constructor raised.
    """
    made_by = check_class(settings, protocol)
    with user_code(settings, "its constructor"):
        found: P = made_by(**settings.options)
    return found


def class_version(settings: PythonClassSettings) -> str:
    """Return the `version` that the class states, else a hash of its module's source."""
    return version_of(settings.class_, folder=settings.folder)


def version_of(path: str, *, folder: str | None) -> str:
    """Return the same of a class or value by its import *path*."""
    stated = getattr(load(path, folder=folder), "version", None)
    if stated is None:
        return f"source {_source_hash(path.partition(':')[0])}"
    if not isinstance(stated, str | int):
        raise UsageError(f"{path}: expected its version as a text or a whole number, found {stated!r}")
    return f"version {stated}"


class UserCodeError(LongformError):
    """A user's own code raised, or returned what it should not; the message names their class."""


@contextmanager
def user_code(code: PythonClassSettings | str, doing: str) -> Iterator[None]:
    """Turn an error of a user's own *code* into one that names the lines of their file; *doing* says what ran."""
    task = _task()
    try:
        yield
    except BaseException as error:
        is_ended = task is not None and (task is not _task() or task.cancelling())  # ours, and not by their code
        ends = (asyncio.CancelledError, GeneratorExit) if is_ended else ()
        if isinstance(error, (LongformError, KeyboardInterrupt, *ends)):
            raise
        raise UserCodeError(_raised(code if isinstance(code, str) else code.class_, doing, error)) from error


def _task() -> asyncio.Task[Any] | None:
    with suppress(RuntimeError):  # no loop runs here
        return asyncio.current_task()
    return None


def returned(code: PythonClassSettings | str, method: str, value: object, kind: type[P], *, expected: str) -> P:
    """Return what a *method* of a user's class returned, if it is a *kind*; UserCodeError names a field that is odd."""
    if not isinstance(value, get_origin(kind) or kind):
        raise wrong(code, method, expected, value)
    return fitted(kind, value, UserCodeError, f"{getattr(code, 'class_', code)}: {method}")


def listed(code: PythonClassSettings, method: str, value: object, n: int, expected: str) -> list[object]:
    """Return the *n* values that a *method* of a user's class returned; UserCodeError if it has others, or no order."""
    found: list[object] | None = None
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | AbstractSet):
        with user_code(code, method):
            found = list(islice(value, n + 1))  # of an iterator that may never end
    if found is None or len(found) != n:
        raise wrong(code, method, f"{n} {expected}", value if found is None else found)
    return found


def wrong(code: PythonClassSettings | str, method: str, expected: str, found: object) -> UserCodeError:
    """Return the error of a *method* that returned something else than *expected*."""
    return unfit(UserCodeError, f"{getattr(code, 'class_', code)}: {method}", expected, found)


# ---------------------------------------------------------------- modules


def _module(path: str, name: str, folder: str | None) -> ModuleType:
    places = _search(folder)
    top = name.partition(".")[0]
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise UsageError(_raised(path, f"importing {name}", error)) from error
        known = [module.name for module in pkgutil.iter_modules(places)]
        raise UsageError(
            f"{path}: found no module {error.name!r} in {' or '.join(places)}, nor among installed packages"
            f"{meant(top, known)}; {_PLACED if folder is not None else 'put it in the current folder'}"
        ) from error
    except (Exception, SystemExit, GeneratorExit, asyncio.CancelledError) as error:
        raise UsageError(_raised(path, f"importing {name}", error)) from error
    _check_is_theirs(path, sys.modules[top], top, folder)
    return module


def _search(folder: str | None) -> list[str]:
    """
    Return the folders where modules of users stand, and see to it that Python looks there.

    They come last, so that a module of a user never takes the place of one that others import.
    """
    places = list(dict.fromkeys(str(Path(place).absolute()) for place in (folder, ".") if place is not None))
    for place in places:
        if place not in sys.path:
            sys.path.append(place)
    invalidate_caches()
    return places


def _check_is_theirs(path: str, module: ModuleType, name: str, folder: str | None) -> None:
    """Refuse a module of the same name that was found elsewhere while there is one in *folder*."""
    meant = [Path(folder, f"{name}.py"), Path(folder, name, "__init__.py")] if folder else []
    there = [file for file in meant if file.is_file()]
    if there and not any(module.__file__ and file.samefile(module.__file__) for file in there):
        raise UsageError(
            f"{path}: {there[0]} cannot be imported, since {_file(module)} has the same name; rename the file"
        )


def _file(module: ModuleType) -> str:
    return getattr(module, "__file__", None) or f"the module {module.__name__}"


@cache  # a process goes on with the code that it has imported
def _source_hash(module_name: str) -> str:
    module = import_module(module_name)
    file = getattr(module, "__file__", None)
    source = Path(file).read_bytes() if file else b""
    return hashlib.sha256(source).hexdigest()[:KEY_LENGTH]


# ---------------------------------------------------------------- classes


def _check_method(path: str, found: type, name: str, parameters: list[str]) -> None:
    expected, method = f"{name}({', '.join(parameters)})", getattr(found, name, None)
    if not callable(method):
        own = [known for known in dir(found) if known[0] != "_" and callable(getattr(found, known))]
        raise UsageError(f"{path}: expected a method {expected}, found {own or 'no method'}")
    signature = inspect.signature(method)
    takes_self = not isinstance(inspect.getattr_static(found, name), staticmethod | classmethod)
    try:
        signature.bind(*("self", *parameters) if takes_self else parameters)
    except TypeError as error:
        raise UsageError(f"{path}: expected {expected}, found {name}{signature}: {error}") from error


def _check_options(path: str, found: type, options: Mapping[str, JsonValue]) -> None:
    signature: object = "what nothing tells"
    try:
        signature = (known := inspect.signature(found))
        known.bind(**options)
    except (TypeError, ValueError) as error:  # classes of C may state no signature
        raise UsageError(
            f"{path}: its constructor takes {signature}, and the options are {dict(options)}: {error}"
        ) from error


# ---------------------------------------------------------------- errors


def _raised(path: str, doing: str, error: BaseException) -> str:
    said = traceback.format_exception_only(error)[-1].strip()
    if isinstance(error, AttributeError) and "Did you mean" not in said:  # which Python says from 3.12 on
        said += meant(str(error.name), [known for known in dir(error.obj) if known[0] != "_"])
    return "\n  ".join([f"{path}: {doing} raised {said}", *_lines(error)])


def _lines(error: BaseException) -> list[str]:
    """Return the last lines of a user's own code on the way to *error*."""
    if isinstance(error, SyntaxError) and error.filename:
        return [f"{error.filename}, line {error.lineno}: {(error.text or '').strip()}"]
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_NOT_THEIRS)
    ]
    own = [frame for frame in frames if not frame.filename.startswith(_INSTALLED)] or frames
    return [f"{frame.filename}, line {frame.lineno}, in {frame.name}: {frame.line}" for frame in own[-_FRAMES_SHOWN:]]
