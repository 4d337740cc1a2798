"""Figures: what they show, that they read without colour, and that they never change by themselves."""

import re
import xml.etree.ElementTree as ET

import pytest
from matplotlib.textpath import TextPath

from longform.metrics.statistics import Estimate
from longform.report.plots import BandMark, Plot, band_plot, series_style

HOSTILE = "</script><img src=x onerror=alert(1)> $\\frac$ 语言"


def plotted(values) -> Plot | None:
    """Return the figure of bands, each of one value of the first system, or of one for each of several systems."""
    marks = [
        BandMark(band, series, Estimate(value, None, None, 1))
        for band, known in values.items()
        for series, value in (known if isinstance(known, dict) else {"a": known}).items()
    ]
    return band_plot(marks, x_label="joint, of 100", head="Joint. ", name="joint0")


def drawn(values) -> Plot:
    plot = plotted(values)
    assert plot is not None
    return plot


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter() if node.tag.endswith("text")]


def test_the_same_numbers_give_the_same_bytes():
    values = {"bm25": 20.0, "full": 12.0}
    assert drawn(values) == drawn(values)


def test_a_changed_number_changes_the_figure():
    assert drawn({"bm25": 20.0}).svg != drawn({"bm25": 21.0}).svg


def test_higher_scores_stand_further_right():
    svg = drawn({"low": 10.0, "high": 40.0}).svg
    spots = [
        float(x)
        for x in re.findall(r'<use xlink:href="#joint0-m\w+" x="([\d.]+)" y="[\d.]+" style="fill: #0072b2', svg)
    ]
    low, high = spots[:2]
    assert low < high


def test_alt_text_says_the_known_values_and_of_very_many_the_first() -> None:
    assert drawn({"oracle": 44.64, "bm25": 20.0, "random": None}).alt == "Joint. oracle 44.6; bm25 20.0."
    assert drawn({"oracle": {"a": 44.64, "b": None}, "bm25": {"b": 2.0}}).alt == "Joint. oracle: a 44.6; bm25: b 2.0."
    assert drawn({f"s{n}": float(n) for n in range(40)}).alt == "Joint. s0 0.0; the others stand in the tables."


def test_names_stay_text_and_are_neither_markup_nor_formulas():
    """A model may be called anything; matplotlib would read dollars as mathematics and raise."""
    svg = drawn({HOSTILE: 20.0}).svg
    assert "<img" not in svg
    assert "</script" not in svg
    assert "</script><img" in " ".join(texts(svg))


def test_long_unbroken_names_are_shortened_in_the_figure():
    svg = drawn({"x" * 500: 20.0}).svg
    assert max(map(len, texts(svg))) <= 41


def test_ids_are_unique_to_the_figure():
    svg = drawn({"bm25": 20.0}).svg
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert ids
    assert all(name.startswith("joint0-") for name in ids)
    targets = re.findall(r'(?:url\(|href=")#([^")]+)', svg)
    assert set(targets) <= set(ids)


def test_ink_follows_the_page_so_that_a_dark_page_shows_it():
    svg = drawn({"bm25": 20.0}).svg
    assert "currentColor" in svg
    assert "#000000" not in svg
    assert "#ffffff" not in svg


def test_nothing_is_loaded_and_no_date_is_written():
    svg = drawn({"bm25": 20.0}).svg
    assert svg.startswith("<svg")
    assert not re.search(r'(?:href|src)="(?!#)', svg)
    assert "metadata" not in svg


def test_twenty_series_differ_without_colour():
    styles = [series_style(place) for place in range(20)]
    assert len({(style["marker"], style["markerfacecolor"] == "none") for style in styles}) == 20


@pytest.mark.parametrize("values", [{}, {"bm25": None}])
def test_no_known_score_is_no_figure(values):
    assert plotted(values) is None


@pytest.mark.parametrize("label", ["claude3-opus, supporting documents found", "a name with no end " * 12, "x" * 300])
def test_no_text_of_a_figure_is_cut_at_its_edge(label):
    """Measured in the font that the figure was laid out with."""
    names = [f"{label} {number}" for number in range(3)]
    plot = drawn({"oracle": dict.fromkeys(names, 50.0)})
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', plot.svg)[1])
    shape = r"font-size: ([\d.]+)px([^>]*)>([^<]+)<"
    found = [
        (
            text,
            re.search(r"text-anchor: (\w+)", more),
            float(re.search(r'(?: x="|translate\()([\d.]+)', more)[1]),
            float(size),
        )
        for size, more, text in re.findall(shape, plot.svg)
    ]

    assert sum(text.startswith(label[:10]) for text, *_ in found) >= 3
    for text, anchor, x, size in found:
        own = TextPath((0, 0), text, size=size).get_extents().width
        left = {"start": x, "middle": x - own / 2, "end": x - own}[anchor[1] if anchor else "start"]
        assert left >= -1
        assert left + own <= width + 1
