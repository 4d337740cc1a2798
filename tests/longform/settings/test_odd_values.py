"""Every number, URL and variable that a configuration may hold, with odd values drawn for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from longform.settings.endpoints import Options, Url, Variable
from longform.settings.experiment import Experiment
from longform.synthesis.key_points.settings import KeyPointSynthesis

Place = tuple[type[BaseModel], str]

SECRET = "hunter2secret"


def models(*roots: Any) -> list[type[BaseModel]]:
    """Return all models that stand in the fields of the *roots*, each once."""
    known: dict[type[BaseModel], None] = {}

    def visit(kind: Any) -> None:
        for part in get_args(kind):
            visit(part)
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind not in known:
            known[kind] = None
            for field in kind.model_fields.values():
                visit(field.annotation)

    for root in roots:
        visit(root)
    return list(known)


def leaves(kind: Any) -> Iterator[Any]:
    yield kind
    for part in get_args(kind):
        yield from leaves(part)


def places(*kinds: Any) -> list[Place]:
    """Return the fields whose values, or members of them, are of one of these *kinds*."""
    return [
        (model, name)
        for model in models(Experiment, KeyPointSynthesis)
        for name, field in model.model_fields.items()
        if any(leaf in kinds for leaf in leaves(field.annotation)) and bool not in leaves(field.annotation)
    ]


def annotated(kind: Any) -> list[Place]:
    """Return the fields whose values, or members of them, are checked as *kind* says."""
    check = get_args(kind)[1]
    return [
        (model, name)
        for model in models(Experiment, KeyPointSynthesis)
        for name, field in model.model_fields.items()
        if check in field.metadata or any(check in get_args(leaf) for leaf in leaves(field.annotation))
    ]


def refusal(place: Place, value: Any) -> str:
    """Return what a model says of a field's value, and that of a list of it if the field is a list; empty: nothing."""
    model, name = place
    is_list = any(get_origin(leaf) is tuple for leaf in leaves(model.model_fields[name].annotation))
    try:
        model.model_validate({model.model_fields[name].alias or name: [value] if is_list else value})
    except ValidationError as error:
        ours = [one for one in error.errors() if name in one["loc"] or name in one["msg"]]
        return "; ".join(one["msg"] for one in ours)
    return ""


NUMBERS = [place for place in places(int, float) if place[1] != "cuts"]
URLS, VARIABLES, OPTIONS = annotated(Url), annotated(Variable), annotated(Options)


def test_all_kinds_of_fields_are_found() -> None:
    names = {(model.__name__, name) for model, name in [*NUMBERS, *URLS, *VARIABLES, *OPTIONS]}
    assert {
        ("Experiment", "seed"),
        ("Experiment", "bullets"),
        ("SystemGrid", "budget_tokens"),
        ("ChatSettings", "replicas"),
        ("EmbeddingSimilaritySettings", "url"),
        ("ServedJudgeSettings", "token_env"),
        ("PythonJudgeSettings", "options"),
    } <= names
    assert [
        (model.__name__, name)
        for model in models(Experiment, KeyPointSynthesis)
        for name in model.model_fields
        if name in ("url", "base_url", "api_key_env", "token_env", "options")
        if (model, name) not in [*URLS, *VARIABLES, *OPTIONS]
    ] == []


@pytest.mark.parametrize("place", NUMBERS, ids=lambda place: f"{place[0].__name__}.{place[1]}")
@given(
    value=st.one_of(
        st.booleans(),
        st.sampled_from([float("inf"), float("-inf"), float("nan"), "nan", "1e999", 1e300, -1e300, 10**400]),
        st.integers(min_value=2**53),
        st.integers(max_value=-(2**31)),
    )
)
def test_a_number_that_no_run_can_hold_is_refused(place: Place, value: Any) -> None:
    assert refusal(place, value)


@pytest.mark.parametrize("place", [place for place in NUMBERS if place[1] == "seed"], ids=lambda place: str(place[0]))
@given(seed=st.integers(min_value=0, max_value=2**31 - 1))
def test_a_usual_seed_is_taken_and_none_below_0(place: Place, seed: int) -> None:
    assert refusal(place, seed) == ""
    assert refusal(place, -1 - seed)


PLAIN = st.from_regex(
    r"(https?|serve)://[a-z0-9.-]{1,9}(:[1-9][0-9]{0,3})?(/[A-Za-z0-9._~@%+-]{0,9}){0,3}", fullmatch=True
)
ODD = st.one_of(
    PLAIN.map(lambda url: url.replace("://", f"://me:{SECRET}@", 1)),
    PLAIN.map(lambda url: url.replace("://", f"://{SECRET}@", 1)),
    PLAIN.map(lambda url: f"{url}?api_key={SECRET}"),
    PLAIN.map(lambda url: f"{url}#{SECRET}"),
    PLAIN.map(lambda url: f"{url} {SECRET}"),
    PLAIN.map(lambda url: f"{url}\\@{SECRET}"),
    PLAIN.map(lambda url: url.partition("://")[2]),
    PLAIN.map(lambda url: f"ftp://{url.partition('://')[2]}"),
    st.sampled_from(["http://[::1/v1", "http://[zz]/v1", "http://h:99999/", "http://h:abc/", "http://h:0/", "http://"]),
    st.sampled_from(["http://[:::::::::]/v1", "http://h:/", "", f"{SECRET}", f"http://h\n{SECRET}"]),
)


@pytest.mark.parametrize("place", URLS, ids=lambda place: f"{place[0].__name__}.{place[1]}")
@given(plain=PLAIN, odd=ODD)
def test_a_url_holds_an_address_and_nothing_else(place: Place, plain: str, odd: str) -> None:
    assert refusal(place, plain) == ""
    said = refusal(place, odd)
    assert said
    assert SECRET not in said


@pytest.mark.parametrize("place", VARIABLES, ids=lambda place: f"{place[0].__name__}.{place[1]}")
@given(
    name=st.from_regex(r"[A-Z_][A-Z0-9_]{0,20}", fullmatch=True), tail=st.sampled_from(["-x", "x", " ", "\n", "é", "="])
)
def test_a_variable_is_a_name_and_a_key_in_its_place_is_not_told(place: Place, name: str, tail: str) -> None:
    assert refusal(place, name) == ""
    said = refusal(place, f"sk-{SECRET}-{name}{tail}")
    assert said
    assert SECRET not in said
    assert refusal(place, f"{name}{tail}")


@pytest.mark.parametrize("place", OPTIONS, ids=lambda place: f"{place[0].__name__}.{place[1]}")
@given(
    name=st.sampled_from(["api_key", "API-Key", "Authorization", "client_secret", "password", "access_token"]),
    within=st.sampled_from([lambda one: one, lambda one: {"more": one}, lambda one: {"more": [1, one]}]),
)
def test_options_hold_no_secret(place: Place, name: str, within: Any) -> None:
    said = refusal(place, within({name: SECRET}))
    assert name in said
    assert SECRET not in said
    assert refusal(place, within({"best_of_tokens": 5, "keyboard": "x"})) == ""
