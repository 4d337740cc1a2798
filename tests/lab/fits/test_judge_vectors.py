"""The judge by vectors is the fit on both topics, and reaches what the docs say."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from actors.storage.benchmark import Benchmark
from jobs.ingest import ingest
from lab.fits.judge import TEXTS_HELD, Topics, agreement_reach
from lab.fits.judge_examples import LabelledSet, labelled_set
from longform.judges.coverage_model import VECTORS
from longform.judges.offline_coverage import shipped_judge
from longform.text.vectors import RecentTexts, TextReader
from tests.soak import ONLY_IN_SOAK

SHIPPED = shipped_judge("people-vectors")


def read_set(released: Path, name: str, folder: Path, text: str, encoder: TextReader) -> LabelledSet:
    ingest("summhay", [str(released / "summhay" / name)], str(folder))
    return labelled_set(text, Benchmark(str(folder)), "human")._replace(encoder=encoder)


@pytest.fixture(scope="module")
def topics(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Topics:
    encoder = RecentTexts(Encoder(MINILM, threads=2), held=TEXTS_HELD)
    news, talks = SHIPPED.fitted_on.split(" and ")
    folder = tmp_path_factory.mktemp("topics")
    return Topics(
        read_set(released, "eval_benchmark_data.json.gz", folder / "news", news, encoder),
        read_set(released, "eval_benchmark_data_conversation.json.gz", folder / "talks", talks, encoder),
    )


@pytest.mark.slow
@ONLY_IN_SOAK
def test_the_shipped_judge_is_the_fit_on_both_topics(topics: Topics) -> None:
    """Within a tolerance: another processor's vectors may round a cosine to another third decimal."""
    found = topics.fit()

    assert found.fitted_on == SHIPPED.fitted_on
    assert found.fitted_haystacks == SHIPPED.fitted_haystacks
    assert (found.features, found.fit, tuple(found.strengths)) == (SHIPPED.features, SHIPPED.fit, VECTORS.guards)
    for made, shipped in zip(found.coefficients, SHIPPED.coefficients, strict=True):
        assert made == pytest.approx(shipped, abs=0.01)
    assert found.intercepts == pytest.approx(SHIPPED.intercepts, abs=0.01)
    assert found.strengths == pytest.approx(SHIPPED.strengths, abs=0.01)
    assert found.cuts == pytest.approx(SHIPPED.cuts, abs=0.01)


@pytest.mark.slow
@ONLY_IN_SOAK
def test_a_topic_kept_out_is_judged_as_the_docs_say(topics: Topics) -> None:
    expected = {"pearson": (0.763, 0.828), "kappa": (0.522, 0.570), "bias of answers": (-0.025, 0.009)}
    for place, transfer in enumerate(topics.transfers):
        model = transfer.fit()
        kept_out = {summary.haystack_id for summary in transfer.measured.summaries}
        rows = agreement_reach(transfer.measured, lambda _, model=model: model, fitted_on="")
        reach = {row["measure"]: row["value"] for row in rows}

        assert kept_out.isdisjoint(model.fitted_haystacks)
        assert {name: reach[name] for name in expected} == pytest.approx(
            {name: values[place] for name, values in expected.items()}, abs=0.005
        )
