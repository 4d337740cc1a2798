// The matrix of systems and queries.

function linkedMatrix({ queries, systems, measures, summaries }) {
  queries.forEach((query, place) => { query.number = place + 1; });
  for (const one of summaries) {
    Object.assign(one, { query: queries[one.query], system: systems[one.system],
      address: one.file + placeOf(one) });
  }
  // A twin follows its original.
  const key = (one) => [one.twin_of ?? one.summarizer, one.setting, one.twin_of === null ? "" : one.summarizer].join("\0");
  systems.sort((one, other) => (key(one) < key(other) ? -1 : 1));
  return { queries, systems, measures, summaries };
}

const knownMean = (values) => {
  const known = values.filter((value) => value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
};
const matrixNumber = (value) => (value === null ? "–" : value.toFixed(Math.abs(value) < 10 ? 2 : 1));
const systemWords = (system) => `${system.summarizer} · ${system.setting}${system.in_sample ? " (in sample)" : ""}`;

function startMatrix(section, data) {
  const { queries, systems, measures, summaries } = linkedMatrix(data);
  const scroll = section.querySelector(".matrix");
  const status = section.querySelector(".status");
  const panel = section.querySelector(".mean-of");
  if (!measures.length) { status.textContent = "No judge gives these summaries scores of their own."; return; }
  let marked = null;
  let markedDataset = null;
  let other = null; // stands beside the marked one

  const writerOf = (system) => system.twin_of ?? system.summarizer;
  const measured = new Choice("Measure", (one) => (one.judge ? `${one.title}, judge ${one.judge}` : one.title), draw);
  const [writer, haystack] = ["Summarizer", "Haystack"].map((label) => new Choice(label, (name) => name ?? "All", draw));
  measured.offer(measures, measures.find((one) => one.name === "joint") ?? measures.find((one) => one.scaled));
  writer.offer([null, ...systems.map(writerOf)]);
  haystack.offer([null, ...queries.map((one) => one.haystack)]);
  section.querySelector(".choices").append(measured.label, writer.label, haystack.label);
  const isChosen = (choice, key) => [null, key].includes(choice.chosen);

  function range(place) {
    if (measures[place].scaled) return [0, 100];
    const known = summaries.map((one) => one.values[place]).filter((value) => value !== null);
    return [Math.min(...known), Math.max(...known)];
  }

  function cell(found, place, [low, high]) {
    const value = knownMean(found.map((one) => one.values[place]));
    if (!found.length) return element("td", { class: "number", title: "no summary", "data-unknown": "" }, "–");
    const lowest = [...found].sort(byScore(place))[0];
    const made = element("td", { class: "number" }, element("a", { href: lowest.address }, matrixNumber(value)));
    if (value === null) made.setAttribute("data-unknown", "");
    else made.style.setProperty("--share", `${Math.round(45 * (high > low ? (value - low) / (high - low) : 0))}%`);
    return made;
  }
  // The lowest first, the unknown last.
  const byScore = (place) => (one, other) => (one.values[place] ?? Infinity) - (other.values[place] ?? Infinity) || 0;

  function draw() {
    const place = measures.indexOf(measured.chosen);
    const shownQueries = queries.filter((one) => isChosen(haystack, one.haystack));
    const shown = systems.filter((one) => isChosen(writer, writerOf(one)));
    const ends = range(place);
    const cells = new Map(systems.map((system) => [system, Map.groupBy(summaries.filter((one) => one.system === system), (one) => one.query)]));
    const rows = shown.map((system) => {
      const head = element("th", { scope: "row", class: "text" }, button(systemWords(system), () => mark(system, null)));
      const row = element("tr", {}, head, shownQueries.map((query) => cell(cells.get(system).get(query) ?? [], place, ends)));
      if (system.twin_of !== null) row.classList.add("beside");
      if (system === marked) row.classList.add("marked");
      return row;
    });
    const heads = shownQueries.map((query) => element("th", { scope: "col", class: "number", title: query.text }, String(query.number)));
    scroll.replaceChildren(element("table", {},
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "System, by query"), heads)),
      element("tbody", {}, rows)));
    section.querySelector(".legend").textContent =
      `The darker the blue of a cell on a white page (the brighter on a dark one), the higher the score: from ${matrixNumber(ends[0])} to ${matrixNumber(ends[1])}. –: unknown.`;
    section.querySelector(".queries").replaceChildren(...shownQueries.map((query) => element("li", { value: query.number }, `${query.text} (${query.haystack})`)));
    const [own, every] = [shown, systems].map((some) => some.filter((one) => one.twin_of === null).length);
    const twins = shown.length > own ? `, ${shown.length - own} with a repaired twin,` : "";
    const scored = shownQueries.filter((query) => summaries.some((one) => one.query === query && one.values[place] !== null));
    status.textContent = `Showing ${own} of ${every} systems${twins} on ${shownQueries.length} of ${queries.length} queries, ` +
      `${scored.length} of them scored.`;
    list(place);
  }

  // Those of a system that are shown, by `order`.
  function summariesOf(system, order) {
    return summaries.filter((one) => one.system === system &&
      (markedDataset === null || one.query.dataset === null || one.query.dataset === markedDataset) &&
      isChosen(haystack, one.query.haystack)).sort(order);
  }

  function list(place) {
    if (marked === null) { panel.replaceChildren(); return; }
    const found = element("div", {});
    const fill = () => {
      other = beside.chosen;
      found.replaceChildren(...(other === null ? ownList(place) : besideList(place)));
    };
    const beside = new Choice("Side by side with", (one) => (one === null ? "–" : systemWords(one)), fill);
    beside.offer([null, ...systems.filter((one) => one !== marked)], other);
    panel.replaceChildren(
      element("h3", { tabindex: "-1" }, `${systemWords(marked)}: ${measures[place].title}`),
      element("div", { class: "choices" }, beside.label), found);
    fill();
  }

  function ownList(place) {
    const own = summariesOf(marked, byScore(place));
    return [
      element("p", {}, `The summaries that this number is the mean of (${own.length}), the lowest first:`),
      element("ol", {}, own.map((one) => element("li", {},
        element("a", { href: one.address }, `${matrixNumber(one.values[place])}: ${one.query.text}`))))];
  }

  // A query with several summaries has them in their order, the first beside the first.
  function besideList(place) {
    const left = summariesOf(other, () => 0);
    const pairs = summariesOf(marked, () => 0).flatMap((one) => {
      const at = left.findIndex((candidate) => candidate.query === one.query);
      return at < 0 ? [] : [[one, ...left.splice(at, 1)]];
    });
    const behind = ([one, two]) => one.values[place] === null || two.values[place] === null
      ? Infinity : one.values[place] - two.values[place];
    pairs.sort((one, two) => behind(one) - behind(two) || 0);
    return [
      element("p", {}, pairs.length
        ? `Both on each query that they share (${pairs.length}), the one first on which ${systemWords(marked)} is furthest below:`
        : "The two share no query."),
      element("ol", {}, pairs.map((pair) => besideItem(pair, place)))];
  }

  function besideItem([one, two], place) {
    const words = `${matrixNumber(one.values[place])} beside ${matrixNumber(two.values[place])}: ${one.query.text}`;
    return one.file === two.file ? element("li", {}, element("a", { href: one.file + placeOf(one, two) }, words))
      : element("li", {}, `${words} (on two pages: `, element("a", { href: one.address }, "the first"), ", ",
        element("a", { href: two.address }, "the second"), ")");
  }

  function mark(system, dataset, beside = null) {
    [marked, markedDataset, other] = [system, dataset, beside];
    draw();
    panel.scrollIntoView({ block: "nearest" });
    panel.querySelector("h3").focus({ preventScroll: true }); // what was clicked is drawn anew
  }

  draw();
  followFragment((wanted) => {
    if (!wanted.has("measure")) return;
    const named = measures.filter((one) => one.name === wanted.get("measure"));
    const found = named.find((one) => one.judge === (wanted.get("judge") ?? "")) ?? named.find((one) => one.judge === "");
    const systemOf = (...fields) => systems.find((one) => [one.summarizer, one.setting].every((part, at) => part === wanted.get(fields[at])));
    const [system, beside] = [systemOf("summarizer", "setting"), systemOf("with_summarizer", "with_setting")];
    if (found === undefined || system === undefined) {
      status.textContent = "This page holds no such system or measure.";
      return;
    }
    measured.offer(measures, found);
    writer.offer(writer.keys, null);
    haystack.offer(haystack.keys, null);
    mark(system, wanted.get("dataset"), beside ?? null);
  });
}
