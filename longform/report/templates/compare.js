// Two summaries of one query side by side, and two systems whose tests were made beforehand.

const besideWords = (summary) =>
  [`${summary.summarizer} · ${summary.setting}`, summary.order, summary.repeat ? `repeat ${summary.repeat + 1}` : null]
    .filter((part) => part !== null).join(", ");

// Insights or key points by who covers them; one that is unjudged in either summary tells nothing.
function sharedInsights(targets, judged) {
  const answers = judged.map(({ verdicts }) => new Map(verdicts.map((verdict) => [verdict.target, verdict.answer])));
  const found = { both: [], first: [], second: [], neither: [], unjudged: [] };
  for (const target of targets) {
    const [one, other] = answers.map((own) => own.get(target) ?? null);
    if (one === null || other === null) found.unjudged.push(target);
    else if (covers(one)) found[covers(other) ? "both" : "first"].push(target);
    else found[covers(other) ? "second" : "neither"].push(target);
  }
  return found;
}

function sharedWords(found, n, words) {
  const unjudged = found.unjudged.length
    ? ` ${counted(found.unjudged.length, words)} ${found.unjudged.length === 1 ? "is" : "are"} unjudged in at least one.` : "";
  return `Of ${counted(n, words)} the first covers ${found.first.length} that the second lacks, and the second ` +
    `${found.second.length} that the first lacks; both cover ${found.both.length}, neither ${found.neither.length}.${unjudged}`;
}

// `only` holds the insights that the other summary lacks; `words` is "first" or "second".
function sideView(summary, judge, files, { judged, only, words }) {
  const { kind, verdicts, covered, links } = judged;
  const addresses = passageAddresses(summary, files);
  const note = (verdict) => (only.includes(verdict.target) ? `Only the ${words} covers this` : undefined);
  return element("section", { class: "side", "aria-label": `The ${words} summary` },
    element("h3", {}, `The ${words}: ${besideWords(summary)}`),
    element("p", { class: "tag" }, element("a", { href: placeOf(summary) }, "This summary alone")),
    headOf(summary, judge, judged, addresses),
    element("h4", {}, `Bullets (${summary.bullets.length})`),
    element("ol", { class: "bullets" },
      summary.bullets.map((bullet, unit) => bulletItem(bullet, links(unit), addresses, note))),
    kind === "reference" ? targetLists({ kind, verdicts, covered, silent: [] }, [], addresses) : null);
}

function compareView(pair, judge, files) {
  const query = pair[0].query;
  const [first, second] = pair.map((summary) => judgedBy(summary, judge));
  const kind = first.kind ?? second.kind;
  const targets = query.targets.filter((target) => target.kind === kind && kind !== "reference");
  const found = sharedInsights(targets, [first, second]);
  const addresses = passageAddresses(pair[0], files);
  const only = (title, own) => insightList(title, own.map((target) =>
    [element("div", {}, insightWords(target)), statedBy(target, addresses)]), "h4");
  return [
    element("h3", {}, query.text ?? query.query_id),
    targets.length ? element("p", { class: "why" }, sharedWords(found, targets.length, KIND_WORDS[kind])) : null,
    only("Only the first covers", found.first),
    only("Only the second covers", found.second),
    kind === "insight" ? element("p", { class: "tag" }, CHIP_LEGEND) : null,
    element("div", { class: "sides" },
      sideView(pair[0], judge, files, { judged: first, only: found.first, words: "first" }),
      sideView(pair[1], judge, files, { judged: second, only: found.second, words: "second" }))];
}

// ---------------------------------------------------------------- two systems

// A reader picks two systems, or a reference for all: the tests were made beforehand, all pairs of a measure together.

function pairOf(family, first, second) {
  const n = family.systems.length;
  const [low, high] = first < second ? [first, second] : [second, first];
  const place = (low * (2 * n - low - 1)) / 2 + high - low - 1;
  const { difference, half, p, n: common } = family.pairs[place];
  return { difference: difference === null || first < second ? difference : -difference, half, p, common };
}

function findingOf(family, pair) {
  if (pair.difference === null) return "no query in common";
  if (family.few) return `too few queries to tell anything apart (smallest possible p ${family.smallest_p.toPrecision(2)})`;
  if (pair.half === null || Math.abs(pair.difference) <= pair.half) return "not distinguishable";
  if (family.better === null) return pair.difference > 0 ? "higher" : "lower";
  return (pair.difference > 0) === (family.better === "higher") ? "better" : "worse";
}

function signed(value, digits) {
  return (value >= 0 ? "+" : "\u2212") + Math.abs(value).toFixed(digits);
}

function intervalOf(pair) {
  if (pair.difference === null || pair.half === null) return "no interval";
  const bounds = [pair.difference - pair.half, pair.difference + pair.half];
  let digits = 1; // a bound that is not 0 is not shown as 0
  while (digits < 4 && bounds.some((bound) => bound !== 0 && Number(bound.toFixed(digits)) === 0)) digits += 1;
  return `[${bounds.map((bound) => signed(bound, digits)).join(", ")}]`;
}

// The difference, its interval, p and the finding.
function pairWords(family, pair) {
  const known = pair.difference !== null;
  return [known ? signed(pair.difference, 1) : "–", intervalOf(pair), known && !family.few ? pair.p.toFixed(4) : "–",
    findingOf(family, pair)];
}

// In the form of `longform/report/tables.py`.
function besideFragment(family, first, second) {
  const { summarizer, setting } = family.systems[first];
  const { summarizer: with_summarizer, setting: with_setting } = family.systems[second];
  const named = { summarizer, setting, judge: family.judge, dataset: family.dataset, measure: family.measure, with_summarizer, with_setting };
  return new URLSearchParams(Object.entries(named).filter(([, value]) => value !== null));
}

function startChooser(box) {
  const { families } = pageData(box.nextElementSibling.textContent);
  const measure = new Choice("Measure", (family) => family.title, fill);
  const [first, second] = ["System A", "System B, the reference"].map((label) => new Choice(label, String, show));
  const sentence = element("p", { "aria-live": "polite", class: "pair-sentence" });
  const matrix = document.querySelector('nav.pages a[href="matrix.html"]');
  const way = element("a", { href: "#" }, "Read their summaries side by side, query by query");
  const read = element("p", {}, way);
  const body = element("tbody", {});
  const heads = ["system A", "score", "A less B", "interval", "p", "finding"];
  const table = element("table", {}, element("thead", {}, element("tr", {}, heads.map((head, place) =>
    element("th", { scope: "col", class: place > 0 && place < 5 ? "number" : "text" }, head)))), body);
  const scroll = element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "All systems against B" }, table);

  function fill() {
    const family = measure.chosen;
    const ranked = [...family.systems]
      .sort((one, other) => (family.better === "lower" ? 1 : -1) * (one.score - other.score)).map(({ system }) => system);
    const reference = ranked.includes(family.reference) ? family.reference : ranked[1];
    for (const [one, usual] of [[first, ranked.find((name) => name !== reference)], [second, reference]]) {
      one.offer(ranked, ranked.includes(one.chosen) ? one.chosen : usual);
    }
    show();
  }

  function show() {
    const family = measure.chosen;
    const names = family.systems.map(({ system }) => system);
    const [one, other] = [names.indexOf(first.chosen), names.indexOf(second.chosen)];
    read.hidden = matrix === null || one === other || family.systems[one].summarizer === null; // a ranker wrote no summary
    way.href = `matrix.html#${besideFragment(family, one, other)}`;
    if (one === other) {
      sentence.textContent = "A and B are the same system: choose two.";
    } else {
      const pair = pairOf(family, one, other);
      const [difference, interval, p, finding] = pairWords(family, pair);
      const units = family.cluster === "query" ? "queries" : "haystacks";
      const [own, both] = pair.common === family.n_clusters ? ["", ""] : [` on its own ${units}`, ` on the ${pair.common} ${units} that both have`];
      const told = difference === "–" ? "" : `${difference} ${family.unit}${both}, interval ${interval}, p ${p} `;
      sentence.textContent = `${names[one]} (${family.systems[one].score.toFixed(1)}${own}) against ${names[other]} ` +
        `(${family.systems[other].score.toFixed(1)}${own}): ${told}\u2014 ${finding}. Over ${family.clusters}; ` +
        `interval and p hold for all ${family.n_tests.toLocaleString("en")} pairs of this measure together.`;
    }
    const rows = names.map((name, place) => [name, place]).filter(([, place]) => place !== other)
      .sort(([, left], [, right]) => family.systems[right].score - family.systems[left].score);
    body.replaceChildren(...rows.map(([name, place]) => {
      const cells = [family.systems[place].score.toFixed(1), ...pairWords(family, pairOf(family, place, other))];
      return element("tr", {}, element("th", { scope: "row", class: "text" }, name),
        cells.map((cell, at) => element("td", { class: at < 4 ? "number" : "text" }, cell)));
    }));
  }

  box.append(element("h3", {}, "Compare any two systems"),
    element("div", { class: "choices" }, measure.label, first.label, second.label), sentence, read,
    element("details", {}, element("summary", {}, "All systems against B"), scroll));
  box.hidden = false;
  measure.offer(families);
  fill();
}

document.querySelectorAll(".pair-chooser").forEach(startChooser);

// A page starts here, once all that its scripts define is known.

for (const table of document.querySelectorAll("figure.table table")) {
  makeSortable(table);
  makeTools(table);
}
document.querySelectorAll("figure.plot").forEach(makeSavable);
const hint = document.querySelector(".hint[data-control]");
if (hint !== null) hint.hidden = false;
const starts = { drilldown: startDrilldown, documents: startDocuments, matrix: startMatrix };
for (const [name, start] of Object.entries(starts)) {
  const data = document.getElementById(`${name}-data`);
  if (data !== null) start(document.getElementById(name), pageData(data.textContent));
}
// For tests of the layout: a page wider than its window would scroll sideways as a whole.
document.documentElement.dataset.scrollWidth = document.documentElement.scrollWidth;
document.documentElement.dataset.windowWidth = window.innerWidth;
