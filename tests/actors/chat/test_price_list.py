"""A user's prices stand over those of litellm, and what neither states is unknown."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from actors.chat.price_list import PriceList, _price_of
from longform.chat.prices import FREE, Price
from longform.errors import UsageError
from longform.settings.chat import ChatSettings
from tests.places import ROOT

OWN = """
date: 2026-05-01
models:
  my-model: {input: 0.1, cached_input: 0.05, output: 0.4, reasoning: 0.8, batch_discount: 0.25}
  long-model: {input: 1, output: 2, above: {tokens: 200000, input: 2, output: 3}}
  gpt-4o: {input: 99, output: 100}
"""


def named(model: str, *, batch: bool = False) -> ChatSettings:
    return ChatSettings(model=model, provider="litellm", batch=batch)


@pytest.fixture
def own(tmp_path: Path) -> PriceList:
    (tmp_path / "prices.yaml").write_text(OWN)
    return PriceList.read(str(tmp_path / "prices.yaml"))


def test_prices_are_those_of_the_file(own: PriceList) -> None:
    mine = own.price(named("my-model"))
    long = own.price(named("long-model"))

    assert mine is not None
    assert (mine.input, mine.cached_input, mine.output, mine.reasoning) == (0.1, 0.05, 0.4, 0.8)
    assert long == Price(input=1, output=2, above_tokens=200_000, above=Price(input=2, output=3))


def test_own_price_stands_over_that_of_litellm_and_others_stay(own: PriceList) -> None:
    assert own.price(named("openai/gpt-4o")) == Price(input=99, output=100)
    assert own.price(named("gpt-4o-mini")) == PriceList.read(None).price(named("gpt-4o-mini")) is not None


def test_source_says_where_a_price_stands_and_of_when(own: PriceList, tmp_path: Path) -> None:
    assert own.source(named("my-model")) == f"{tmp_path}/prices.yaml of 2026-05-01"
    assert own.source(named("gpt-4o-mini")) == f"litellm {version('litellm')}"
    assert own.source(named("nobody/knows")) is None


def test_batch_api_has_its_own_price_or_none_that_is_known(own: PriceList) -> None:
    mine = own.price(named("my-model", batch=True))

    assert mine is not None
    assert (mine.input, mine.output) == pytest.approx((0.075, 0.3))
    assert own.price(named("long-model", batch=True)) is None


def test_published_prices_of_litellm_are_read_as_dollars_a_million() -> None:
    """OpenAI: GPT-4o 2.50, cached 1.25, output 10, half of it in batches. Google: Gemini 2.5 Pro doubles above 200k."""
    prices = PriceList.read(None)
    gpt_4o, gemini = prices.price(named("gpt-4o")), prices.price(named("gemini/gemini-2.5-pro"))
    in_batch = prices.price(named("gpt-4o", batch=True))

    assert gpt_4o is not None
    assert (gpt_4o.input, gpt_4o.cached_input, gpt_4o.output) == (2.5, 1.25, 10.0)
    assert in_batch is not None
    assert (in_batch.input, in_batch.output) == (1.25, 5.0)
    assert gemini is not None
    assert (gemini.of(200_000).input, gemini.of(200_001).input) == (1.25, 2.5)


def test_provider_prefix_is_passed_over_only_for_that_providers_model() -> None:
    prices = PriceList.read(None)

    assert prices.price(named("openai/gpt-4o")) == prices.price(named("gpt-4o"))
    assert prices.price(named("somebody/gpt-4o")) is None


def test_model_or_version_that_is_not_listed_is_unknown_and_not_free() -> None:
    prices = PriceList.read(None)

    assert prices.price(named("gpt-4o-2031-01-01")) is None
    assert prices.price(named("no-such-model")) is None


@pytest.mark.parametrize("provider", ["llama_cpp", "scripted"])
@pytest.mark.parametrize("batch", [True, False])
def test_model_of_ones_own_machine_costs_nothing(provider: str, batch: bool) -> None:
    settings = ChatSettings.model_validate({"provider": provider, "model": "gpt-4o", "batch": batch})

    assert PriceList.read(None).price(settings) == FREE


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"input_cost_per_token": 1e-6}, id="no-output"),
        pytest.param({"input_cost_per_token": 0.0, "output_cost_per_token": 0.0}, id="zero-stands-for-unknown"),
        pytest.param(
            {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6, "tiered_pricing": [{}]}, id="many-steps"
        ),
        pytest.param(
            {
                "input_cost_per_token": 1e-6,
                "output_cost_per_token": 1e-6,
                "input_cost_per_token_above_128k_tokens": 2e-6,
            },
            id="long-calls-half-stated",
        ),
    ],
)
def test_entry_that_states_no_whole_price_gives_none(entry: dict[str, object]) -> None:
    assert _price_of(entry) is None


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("date: 2026-05-01\nmodels: {m: {input: 1, ouput: 2}}", "models.m.o"),
        ("date: 2026-05-01\nmodels: {m: {input: -1, output: 2}}", "models.m.input"),
        ("date: 2026-05-01\nmodels: {m: {input: .nan, output: 2}}", "models.m.input"),
        ("models: {}", "date"),
        ("[1, 2]", "the file"),
    ],
)
def test_file_that_is_no_price_list_is_an_error_that_names_file_and_field(
    content: str, field: str, tmp_path: Path
) -> None:
    (tmp_path / "p.yaml").write_text(content)

    with pytest.raises(UsageError, match=rf"p\.yaml: field '{field}"):
        PriceList.read(str(tmp_path / "p.yaml"))


@pytest.mark.parametrize("content", [None, "a: [1"])
def test_file_that_cannot_be_read_is_wrong_usage(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "p.yaml").write_text(content)

    with pytest.raises(UsageError, match=r"p\.yaml: expected .*YAML"):
        PriceList.read(str(tmp_path / "p.yaml"))


def test_prices_are_read_without_importing_litellm() -> None:
    """Its import takes seconds and may ask the network."""
    code = (
        "import sys; from actors.chat.price_list import PriceList; from longform.settings.chat import ChatSettings; "
        "assert PriceList.read(None).price(ChatSettings(model='gpt-4o')); assert 'litellm' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_price_list_of_the_documentation_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "formats.md").read_text()
    (tmp_path / "p.yaml").write_text(text.split("```yaml title=prices.yaml\n")[1].split("```")[0])

    assert PriceList.read(str(tmp_path / "p.yaml")).price(named("long-model")) is not None
