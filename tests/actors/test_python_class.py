"""Classes of a user's own: how they are found, what is said if they are not, and what they did if they fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pytest

from actors.python_class import UserCodeError, check_class, class_version, load, open_class, user_code
from jobs.configs import validated
from longform.errors import UsageError
from longform.protocols import Judge, Ranker
from longform.settings.python_class import FOLDER, PythonClassSettings
from longform.settings.retrievers import PythonRetrieverSettings
from tests.modules import Write


class Greets(Protocol):
    def greet(self, name: str, politely: bool) -> str: ...


GREETER = """
class Greeter:
    def __init__(self, word="hello"):
        self.word = word
        1 / len(word)

    def greet(self, name, politely):
        return self._joined(name)

    def _joined(self, name):
        return self.word + " " + name.upper()
"""


def settings(folder: Path, path: str = "their_greeter:Greeter", **options: Any) -> PythonClassSettings:
    content = {"kind": "python", "class": path, "options": options}
    return PythonClassSettings.model_validate(content, context={FOLDER: str(folder)})


def test_a_class_beside_the_configuration_is_made_with_its_options(write: Write, tmp_path: Path) -> None:
    write("their_greeter", GREETER)

    made = open_class(settings(tmp_path, word="good day"), Greets)

    assert made.greet("Ada", politely=True) == "good day ADA"


def test_a_folder_is_read_from_that_of_the_configuration(write: Write, tmp_path: Path) -> None:
    write("code/their_value", "VALUE = 7")
    content = {"kind": "python", "class": "their_value:VALUE", "folder": "code"}
    found = PythonClassSettings.model_validate(content, context={FOLDER: str(tmp_path)})

    assert load(found.class_, folder=found.folder) == 7
    assert PythonClassSettings.model_validate(found.model_dump()) == found, "a stored configuration is read back"


def test_classes_are_told_apart_by_their_options(tmp_path: Path) -> None:
    one, same, other = (settings(tmp_path, words=words) for words in (["a"], ["a"], ["b"]))

    assert list(dict.fromkeys([one, same, other])) == [one, other]


def test_the_place_of_a_module_is_no_part_of_what_it_makes(tmp_path: Path) -> None:
    here, there = settings(tmp_path), settings(tmp_path / "moved")

    assert here.identity == there.identity == {"kind": "python", "class": "their_greeter:Greeter", "options": {}}


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("their_greter:Greeter", "found no module 'their_greter' in {folder} or .*; did you mean 'their_greeter'"),
        ("their_absent:Greeter", "found no module 'their_absent' in .*; put it beside the configuration file, or say"),
        ("their_greeter:Greter", "{folder}/their_greeter.py has no 'Greter'; did you mean 'Greeter'"),
        ("their_greeter:WORD", "expected a class, found a str"),
        (
            "their_greeter:Silent",
            r"a method greet\(name, politely\), found \['greets'\]",
        ),
        ("their_greeter:Short", r"expected greet\(name, politely\), found greet\(self, name\): too many positional"),
        ("their_missing:Greeter", "importing their_missing raised ModuleNotFoundError: No module named 'not_there'"),
        ("their_broken:Greeter", r"their_broken.py, line 1: def :"),
        (
            "their_script:Greeter",
            r"SystemExit: 3\n  {folder}/their_script.py, line 2, in <module>: sys.exit\(3\)",
        ),
        ("builtins:eval", "expected a class of one's own, as my_module:MyClass, found a part of Python itself"),
        ("os:system", "os:system: expected a class, found a builtin_function_or_method"),
    ],
)
def test_a_class_that_cannot_be_used_is_refused(write: Write, tmp_path: Path, path: str, said: str) -> None:
    silent = "class Silent:\n    def greets(self): ...\n"
    short = "class Short:\n    def greet(self, name): ...\n"
    write("their_greeter", f"{GREETER}\nWORD = 'hello'\n{silent}{short}")
    write("their_missing", "import not_there")
    write("their_broken", "def :\n")
    write("their_script", "import sys\nsys.exit(3)\n")

    with pytest.raises(UsageError, match=said.format(folder=tmp_path)) as refused:
        check_class(settings(tmp_path, path), Greets)

    assert str(refused.value).startswith(f"{path}: ")


@pytest.mark.parametrize("source", ["async def rank(self, query, documents): ...", "async def rank(*_): yield 1.0"])
def test_a_coroutine_function_is_refused_where_nothing_waits_for_it(write: Write, tmp_path: Path, source: str) -> None:
    write("their_ranker", f"class Waits:\n    {source}\n    async def judge(self, group): ...\n")
    waits: dict[str, Any] = {"kind": "python", "class": "their_ranker:Waits", "folder": str(tmp_path)}
    with_calls = PythonRetrieverSettings.model_validate(waits | {"calls": {}})

    assert check_class(settings(tmp_path, "their_ranker:Waits"), Judge) is check_class(with_calls, Ranker)
    with pytest.raises(UsageError, match=r"^their_ranker:Waits: expected rank as a plain function, found `async def`"):
        check_class(settings(tmp_path, "their_ranker:Waits"), Ranker)


def test_without_a_configuration_a_module_is_put_in_the_current_folder() -> None:
    with pytest.raises(UsageError, match="installed packages; put it in the current folder"):
        load("their_absent:Greeter", folder=None)


def test_a_name_that_nothing_has_is_told_with_the_one_that_was_meant(write: Write, tmp_path: Path) -> None:
    write("their_greeter", GREETER.replace("return self._joined", "return self.wrd or self._joined"))
    mine = settings(tmp_path)
    made = open_class(mine, Greets)

    with (
        pytest.raises(UserCodeError, match=r"no attribute 'wrd'.{1,3}[Dd]id you mean:? 'word'") as raised,
        user_code(mine, "greet"),
    ):
        made.greet("Ada", politely=False)

    assert str(raised.value).lower().count("did you mean") == 1


def test_options_that_the_constructor_does_not_take_are_refused(write: Write, tmp_path: Path) -> None:
    write("their_greeter", GREETER)

    with pytest.raises(UsageError, match=r"takes \(word='hello'\), and the options are .*unexpected keyword.*'wort'"):
        check_class(settings(tmp_path, wort="x"), Greets)


def test_a_module_whose_name_is_taken_is_refused(write: Write, tmp_path: Path) -> None:
    write("json", GREETER)

    with pytest.raises(UsageError, match=r"/json.py cannot be imported, since .*/json/__init__.py has the same name"):
        check_class(settings(tmp_path, "json:Greeter"), Greets)


def test_an_error_of_theirs_names_their_lines_and_none_of_ours(write: Write, tmp_path: Path) -> None:
    write("their_greeter", GREETER)
    mine = settings(tmp_path)
    made = open_class(mine, Greets)

    with pytest.raises(UserCodeError) as raised, user_code(mine, "greet"):
        made.greet(None, politely=False)  # type: ignore[arg-type]

    first, *lines = str(raised.value).split("\n  ")
    assert first == ("their_greeter:Greeter: greet raised AttributeError: 'NoneType' object has no attribute 'upper'")
    assert lines[-2:] == [
        f"{tmp_path}/their_greeter.py, line 8, in greet: return self._joined(name)",
        f'{tmp_path}/their_greeter.py, line 11, in _joined: return self.word + " " + name.upper()',
    ]


def test_an_error_in_their_constructor_is_told_alike(write: Write, tmp_path: Path) -> None:
    write("their_greeter", GREETER)

    with pytest.raises(UserCodeError, match=r"its constructor raised ZeroDivisionError: division by zero\n.*line 5"):
        open_class(settings(tmp_path, word=""), Greets)


def test_a_version_is_the_one_stated_or_changes_with_the_source(write: Write, tmp_path: Path) -> None:
    write("their_first", GREETER)
    write("their_second", GREETER + "# changed")
    write("their_third", GREETER + "    version = 3")
    write("their_fourth", GREETER + "    version = [3]")

    first, second, third = (
        class_version(settings(tmp_path, f"their_{name}:Greeter")) for name in ("first", "second", "third")
    )

    assert first != second
    assert third == "version 3"
    with pytest.raises(UsageError, match=r"expected its version as a text or a whole number, found \[3\]"):
        class_version(settings(tmp_path, "their_fourth:Greeter"))


def test_a_configuration_says_where_its_modules_are(tmp_path: Path) -> None:
    content = {"kind": "python", "class": "m:C"}

    found = validated(PythonClassSettings, content, [], where=str(tmp_path / "mine.yaml"))

    assert found.folder == str(tmp_path)
    assert validated(PythonClassSettings, content, [], where="s3://bucket/mine.yaml").folder is None
