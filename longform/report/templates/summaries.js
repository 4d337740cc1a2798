// Summaries unfold one by one.

// The arrays are those that the report's maker describes: places in `strings` stand for repeated texts.
function unpack(data) {
  const text = (place) => (place === null ? null : data.strings[place]);
  const queries = data.queries.map(([id, haystack, topic, subtopic, words, targets]) => ({
    id, haystack, topic, subtopic, words,
    targets: targets.map(([targetId, name, statement, gold]) => ({ id: targetId, name, statement, gold })),
  }));
  const summaries = data.summaries.map((row) => ({
    id: row[0], query: queries[row[1]], row,
    setting: text(row[2]), summarizer: text(row[3]), order: text(row[4]), failure: text(row[5]),
  }));
  return { text, summaries };
}

function verdictsOf(summary, judge, text) {
  const verdicts = summary.row[7].filter((row) => [judge, ""].includes(text(row[0])));  // "": without a judge
  return verdicts.map(([, target, answer, unit, probability, reply, failure]) => ({
    target: summary.query.targets[target], answer: text(answer), unit, probability,
    reply: text(reply), failure: text(failure),
  }));
}

function judgesOf(summary, text) {
  return [...new Set([...summary.row[7], ...summary.row[8]].map((row) => text(row[0])))];
}

const CHIP_WORDS = { right: "cited rightly", wrong: "cited wrongly", missing: "not cited" };

function chip(kind, mark, number) {
  return element("li", { class: kind }, `${mark} document ${number}, ${CHIP_WORDS[kind]}`);
}

const counted = (n, words) => `${n} ${words}${n === 1 ? "" : "s"}`;

// The reason of the score in one sentence. A citation counts once for each insight that its bullet covers.
function whyWords(summary, verdicts, covered) {
  const insights = summary.query.targets.length;
  if (!verdicts.length) return null;
  const linked = covered.filter((verdict) => verdict.unit in summary.row[6]);
  const pairs = linked.flatMap((verdict) => summary.row[6][verdict.unit][1].map((number) => [verdict, number]));
  const wrong = pairs.filter(([verdict, number]) => !verdict.target.gold.includes(number)).length;
  const missed = new Set(linked.flatMap((verdict) => verdict.target.gold
    .filter((number) => !summary.row[6][verdict.unit][1].includes(number))));
  const unjudged = insights - verdicts.filter((verdict) => verdict.answer !== null).length;
  return `This summary covers ${covered.length} of ${counted(insights, "insight")}` +
    (unjudged ? ` (${unjudged} unjudged)` : "") +
    `; ${wrong} of ${counted(pairs.length, "citation")} of a covered insight ${wrong === 1 ? "is" : "are"} wrong, ` +
    `${counted(missed.size, "document")} that ${missed.size === 1 ? "states" : "state"} a covered insight ${missed.size === 1 ? "is" : "are"} not cited with it.`;
}

const CHIP_LEGEND = "✓ the document states the insight; ✗ it does not; ○ it states the insight and is not cited.";

function citationChips(citations, gold) {
  const missing = gold.filter((number) => !citations.includes(number));
  return element("ul", { class: "chips" },
    ...citations.map((number) => (gold.includes(number) ? chip("right", "✓", number) : chip("wrong", "✗", number))),
    ...missing.map((number) => chip("missing", "○", number)));
}

function insightWords(target) {
  return target.name === null ? target.statement : `${target.name}: ${target.statement}`;
}

function reply(verdict) {
  if (verdict.reply === null) return null;
  return element("details", {}, element("summary", {}, "The judge's reply"), element("pre", {}, verdict.reply));
}

function answerTag(verdict) {
  const probability = verdict.probability === null ? "" : `, judge's number ${verdict.probability} of 1`;
  const answer = verdict.answer === null ? `unjudged: ${verdict.failure ?? "no reason recorded"}` : verdict.answer;
  return element("span", { class: "tag" }, `${answer}${probability}`);
}

function linkedInsight(verdict, citations) {
  return element("div", { class: "linked" },
    element("div", {}, insightWords(verdict.target)), answerTag(verdict),
    citationChips(citations, verdict.target.gold), reply(verdict));
}

function bulletItem([words, citations], links) {
  const none = element("div", { class: "linked none" }, "No insight of this query is linked to this bullet.");
  const found = links.map((verdict) => linkedInsight(verdict, citations));
  return element("li", {}, element("div", {}, words), ...(found.length ? found : [none]));
}

function insightItem(verdict) {
  return element("li", {},
    element("div", {}, insightWords(verdict.target)), answerTag(verdict),
    element("div", { class: "tag" }, `stated by documents ${verdict.target.gold.join(", ") || "–"}`), reply(verdict));
}

function insightList(title, verdicts) {
  if (!verdicts.length) return [];
  return [element("h3", {}, `${title} (${verdicts.length})`),
    element("ul", { class: "insights" }, ...verdicts.map(insightItem))];
}

function scoreList(summary, judge, text) {
  const scores = summary.row[8].filter((row) => text(row[0]) === judge);
  return element("dl", { class: "scores" }, ...scores.map(([, measure, value]) => element("div", {},
    element("dt", {}, text(measure)),
    element("dd", {}, value === null ? "–" : String(Number(value.toPrecision(4)))))));
}

function summaryView(summary, judge, text) {
  const bullets = summary.row[6];
  const verdicts = verdictsOf(summary, judge, text);
  const covered = verdicts.filter((verdict) => verdict.answer !== null && verdict.answer !== "none");
  const links = (unit) => covered.filter((verdict) => verdict.unit === unit);
  const asked = verdicts.map((verdict) => verdict.target);
  const silent = summary.query.targets.filter((target) => !asked.includes(target))
    .map((target) => ({ target, answer: null, unit: null, probability: null, reply: null, failure: "no verdict recorded" }));
  const why = whyWords(summary, verdicts, covered);
  const about = [summary.query.topic, summary.query.subtopic].filter((part) => part !== null).join(" · ");
  return [
    element("h3", {}, summary.query.words ?? summary.query.id),
    about ? element("p", { class: "tag" }, about) : null,
    element("p", { class: "tag" }, `Summary ${summary.id}, document order: ${summary.order ?? "unknown"}${summary.row[9] ? `, repeat ${summary.row[9] + 1}` : ""}`),
    summary.failure === null ? null : element("p", { class: "failure" }, `This summary failed: ${summary.failure}`),
    why === null ? null : element("p", { class: "why" }, why),
    scoreList(summary, judge, text),
    element("p", { class: "tag" }, CHIP_LEGEND),
    element("h3", {}, `Bullets (${bullets.length})`),
    element("ol", { class: "bullets" }, ...bullets.map((bullet, unit) => bulletItem(bullet, links(unit)))),
    ...insightList("Insights not covered", verdicts.filter((verdict) => verdict.answer === "none")),
    ...insightList("Covered, but linked to no bullet", covered.filter((verdict) => !(verdict.unit in bullets))),
    ...insightList("Unjudged insights", [...verdicts.filter((verdict) => verdict.answer === null), ...silent]),
  ].filter((part) => part !== null);
}

function startDrilldown(section, data) {
  const { text, summaries } = unpack(data);
  const facets = [
    ["Haystack", (summary) => summary.query.haystack, (key) => key ?? "–"],
    ["Query", (summary) => summary.query, (query) => query.words ?? query.id],
    ["Setting", (summary) => summary.setting, String],
    ["Summarizer", (summary) => summary.summarizer, String],
    ["Summary", (summary) => summary, (summary) => summary.id],
  ].map(([label, key, words]) => ({ label, key, words, select: element("select", {}), keys: [] }));
  const judges = { label: "Judge", words: (name) => name ?? "–", select: element("select", {}), keys: [] };
  const status = section.querySelector(".status");
  const view = section.querySelector(".summary");

  function offer(facet, keys, wanted) {
    facet.keys = keys;
    facet.select.replaceChildren(...keys.map((key) => element("option", {}, facet.words(key))));
    facet.select.selectedIndex = Math.max(0, keys.indexOf(wanted));
    return keys[facet.select.selectedIndex];
  }
  const chosen = (facet) => facet.keys[facet.select.selectedIndex];

  // Each choice offers what the choices before it leave, so that every combination on offer exists.
  function show(wanted) {
    let left = summaries;
    facets.forEach((facet, place) => {
      const key = offer(facet, [...new Set(left.map(facet.key))], wanted[place]);
      left = left.filter((summary) => facet.key(summary) === key);
    });
    const last = facets[facets.length - 1];
    last.select.parentElement.hidden = last.keys.length < 2;
    const summary = left[0];
    const judge = offer(judges, judgesOf(summary, text), chosen(judges));
    view.replaceChildren(...summaryView(summary, judge, text));
    status.textContent = `Showing one of the ${summaries.length} summaries on this page.`;
    document.documentElement.dataset.summary = summary.id;
    return summary;
  }

  function openFragment() {
    const match = /^#summary=(.*)$/.exec(location.hash);
    if (match === null) return false;
    const id = decodeURIComponent(match[1]);
    const summary = summaries.find((candidate) => candidate.id === id);
    if (summary === undefined) {
      status.textContent = `This page holds no summary ${id}.`;
      return false;
    }
    show(facets.map((facet) => facet.key(summary)));
    section.scrollIntoView();
    return true;
  }

  for (const facet of [...facets, judges]) {
    section.querySelector(".choices").append(element("label", {}, facet.label, facet.select));
    facet.select.addEventListener("change", () => {
      const summary = show(facets.map(chosen));
      history.replaceState(null, "", `#summary=${encodeURIComponent(summary.id)}`);
    });
  }
  show([]);
  openFragment();
  window.addEventListener("hashchange", openFragment);
}
