// Two summaries of one query side by side.

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
