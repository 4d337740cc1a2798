// Summaries unfold one by one.

function withQueries(queries) {
  for (const query of queries) {
    const targets = new Map(query.targets.map((target) => [target.target_id, target]));
    for (const summary of query.summaries) {
      summary.query = query;
      for (const verdict of summary.verdicts) verdict.target = targets.get(verdict.target_id);
    }
  }
  return queries.flatMap((query) => query.summaries);
}

const KIND_WORDS = { insight: "insight", key_point: "key point", reference: "reference" };
const ANSWER_WORDS = { entailed: "said", not_entailed: "not said", neutral: "not said", contradicted: "contradicted" };
const NOT_COVERED = ["none", "not_entailed", "neutral", "contradicted"];

// Whether an answer says that the summary states an insight or a key point.
const covers = (answer) => answer !== null && !NOT_COVERED.includes(answer);

const CHIP_WORDS = { right: "cited rightly", wrong: "cited wrongly", missing: "not cited", cited: "cited" };
const CHIP_MARKS = { right: "✓", wrong: "✗", missing: "○", cited: "·", unsure: "?" };

function chip(kind, number, address, told = CHIP_WORDS[kind]) {
  const words = `${CHIP_MARKS[kind]} document ${number}, ${told}`;
  return element("li", { class: kind }, address === null ? words : element("a", { href: address }, words));
}

// The addresses of the passages of documents: of those that a bullet cites, and of those that state an insight.
function passageAddresses(summary, files) {
  const haystack = summary.query.haystack;
  const address = (number, claim) => documentAddress(files, haystack, number, { ...claim, summary: summary.summary_id });
  return {
    ofBullet: ({ text, citations, passages }, number) =>
      address(number, { what: "bullet", words: text, passage: passages?.[citations.indexOf(number)] ?? null }),
    ofInsight: (target, number) =>
      address(number, { what: "insight", words: insightWords(target), passage: target.passages?.[target.gold.indexOf(number)] ?? null }),
  };
}

const counted = (n, words) => `${n} ${words}${n === 1 ? "" : "s"}`;

// Covered insights with the bullets that are linked to them, their wrong citations and the documents not cited there.
const linkedBullets = (summary, covered) => covered.filter((verdict) => verdict.linked_unit in summary.bullets).map((verdict) => {
  const [bullet, { gold }] = [summary.bullets[verdict.linked_unit], verdict.target];
  return { verdict, bullet, wrong: bullet.citations.filter((number) => !gold.includes(number)),
    missed: gold.filter((number) => !bullet.citations.includes(number)) };
});

// The reason of the score in one sentence. A citation counts once for each insight that its bullet covers.
function whyWords(summary, verdicts, covered) {
  if (!verdicts.length) return null;
  const { kind } = verdicts[0].target;
  const insights = summary.query.targets.filter((target) => target.kind === kind).length;
  if (kind === "reference") return null;
  const linked = linkedBullets(summary, covered);
  const cited = linked.flatMap(({ bullet }) => bullet.citations).length;
  const wrong = linked.flatMap((one) => one.wrong).length;
  const missed = new Set(linked.flatMap((one) => one.missed));
  const unjudged = insights - verdicts.filter((verdict) => verdict.answer !== null).length;
  if (kind === "key_point") {
    return `This summary says ${covered.length} of ${counted(insights, "key point")}${unjudged ? ` (${unjudged} unjudged)` : ""}.`;
  }
  return `This summary covers ${covered.length} of ${counted(insights, "insight")}` +
    (unjudged ? ` (${unjudged} unjudged)` : "") +
    `; ${wrong} of ${counted(cited, "citation")} of a covered insight ${wrong === 1 ? "is" : "are"} wrong, ` +
    `${counted(missed.size, "document")} that ${missed.size === 1 ? "states" : "state"} a covered insight ${missed.size === 1 ? "is" : "are"} not cited with it.`;
}

// The citations that `whyWords` calls wrong, by bullet and insight.
function wrongCitations(summary, covered, addresses) {
  const found = linkedBullets(summary, covered).filter(({ wrong }) => wrong.length);
  if (!found.length) return null;
  const n = found.reduce((sum, { wrong }) => sum + wrong.length, 0);
  return element("details", { class: "wrong-citations" },
    element("summary", {}, `Read the ${counted(n, "wrong citation")}`),
    element("ul", { class: "bullets" }, ...found.map(({ verdict, bullet, wrong }) => element("li", {},
      element("div", {}, bullet.text),
      element("div", { class: "linked" }, element("div", { class: "tag" }, "The insight it covers, which is not stated by"),
        element("ul", { class: "chips" }, ...wrong.map((number) => chip("wrong", number, addresses.ofBullet(bullet, number)))),
        element("div", {}, insightWords(verdict.target)), statedBy(verdict.target, addresses))))));
}

const CHIP_LEGEND = "✓ the document states the insight; ✗ it does not; ○ it states the insight and is not cited.";

function citationChips(bullet, target, addresses) {
  const { citations } = bullet;
  return element("ul", { class: "chips" },
    citations.map((number) => chip(target.gold.includes(number) ? "right" : "wrong", number, addresses.ofBullet(bullet, number))),
    target.gold.filter((number) => !citations.includes(number))
      .map((number) => chip("missing", number, addresses.ofInsight(target, number))));
}

const SUPPORT_CHIPS = {
  supported: ["right", "supports it"],
  unsure: ["unsure", "the judge is unsure whether it supports it"],
  unsupported: ["wrong", "does not support it"],
};

// Citations that no insight says right or wrong of; the first judge of support says whether they support the bullet.
function plainChips(bullet, addresses) {
  if (!bullet.citations.length) return null;
  return element("ul", { class: "chips" }, ...bullet.citations.map((number, place) => {
    const [kind, told] = SUPPORT_CHIPS[bullet.support?.[0]?.cited[place]] ?? ["cited"];
    return chip(kind, number, addresses.ofBullet(bullet, number), told);
  }));
}

// `n` documents were checked: all of the prompt, or those that the bullet cites and the few nearest to it.
function supportWords({ answer, best, cited, n }) {
  if (answer === null) return "support unjudged";
  const checked = n === null ? "its documents" : `${counted(n, "document")} checked`;
  if (answer === "unsure") return `unsure${best === null ? "" : `, nearest is document ${best}`}: none of ${checked} supports it clearly`;
  if (answer !== "supported") return n === null ? "not supported by its documents" : `supported by none of ${checked}`;
  if (best === null) return "supported by its documents";
  return cited.length && !cited.includes("supported") ? `supported by document ${best}, which it does not cite, and by none that it cites`
    : `supported best by document ${best}`;
}

// What each judge of support found of the documents that were checked, cited or not.
function supportLines(bullet) {
  return (bullet.support ?? []).map((found) => element("div", { class: "tag support" },
    `${found.judge === null ? "Support" : `Judge ${found.judge}`}: ${supportWords(found)}`));
}

function insightWords(target) {
  return target.name === null ? target.text : `${target.name}: ${target.text}`;
}

function reply(verdict) {
  if (verdict.reply === null) return null;
  return element("details", {}, element("summary", {}, "The judge's reply"), element("pre", {}, verdict.reply));
}

function answerTag(verdict) {
  const probability = verdict.probability === null ? "" : `, judge's number ${verdict.probability} of 1`;
  const { kind } = verdict.target;
  const answer = verdict.answer === null ? `unjudged: ${verdict.failure ?? "no reason recorded"}`
    : kind === "reference" ? `rated ${verdict.answer} of 5` : ANSWER_WORDS[verdict.answer] ?? verdict.answer;
  return element("span", { class: "tag" }, `${answer}${probability}`);
}

function linkedInsight(verdict, bullet, addresses, note) {
  return element("div", { class: "linked" },
    note === undefined ? null : element("div", { class: "tag only" }, note),
    element("div", {}, insightWords(verdict.target)), answerTag(verdict),
    citationChips(bullet, verdict.target, addresses), reply(verdict));
}

// `links` are null if nobody judged insights. `note` says something of an insight (by its verdict) above its words.
function bulletItem(bullet, links, addresses, note = () => undefined) {
  const plain = () => plainChips(bullet, addresses);
  return element("li", {}, element("div", {}, bullet.text), supportLines(bullet),
    links === null ? plain()
      : links.length ? links.map((verdict) => linkedInsight(verdict, bullet, addresses, note(verdict)))
        : element("div", { class: "linked none" }, "No insight of this query is linked to this bullet.", plain()));
}

function statedBy(target, addresses) {
  if (target.kind !== "insight" && !target.gold.length) return null;
  const numbers = target.gold.map((number) => {
    const address = addresses.ofInsight(target, number);
    return address === null ? String(number) : element("a", { href: address }, String(number));
  });
  return element("div", { class: "tag" }, `stated by ${numbers.length === 1 ? "document" : "documents"} `,
    numbers.length ? numbers.map((number, place) => (place ? [", ", number] : number)) : "–");
}

// Insights under a head with their number; nothing if there are none.
function insightList(title, items, head = "h3") {
  return items.length ? [element(head, {}, `${title} (${items.length})`),
    element("ul", { class: "insights" }, items.map((item) => element("li", {}, item)))] : [];
}

// What is compared with the summary as a whole, and insights that no bullet shows.
function targetLists({ kind, verdicts, covered, silent }, bullets, addresses) {
  const list = (title, found) => insightList(title, found.map((verdict) => [element("div", {}, insightWords(verdict.target)),
    answerTag(verdict), statedBy(verdict.target, addresses), reply(verdict)]));
  const missed = verdicts.filter((verdict) => NOT_COVERED.includes(verdict.answer));
  const unjudged = [...verdicts.filter((verdict) => verdict.answer === null), ...silent];
  const unjudgedOf = (wanted) => list(`Unjudged ${KIND_WORDS[wanted]}s`, unjudged.filter(({ target }) => target.kind === wanted));
  const left = Object.keys(KIND_WORDS).map(unjudgedOf);
  if (kind === "reference") return [list("References", verdicts.filter((verdict) => verdict.answer !== null)), left];
  if (kind === "key_point") return [list("Key points said", covered), list("Key points not said", missed), left];
  return [list("Insights not covered", missed),
    list("Covered, but linked to no bullet", covered.filter((verdict) => !(verdict.linked_unit in bullets))), left];
}

function scoreList(summary, judge) {
  const scores = summary.scores.filter((score) => score.judge === judge);
  return element("dl", { class: "scores" }, scores.map(({ measure, value }) => element("div", {},
    element("dt", {}, measure),
    element("dd", {}, value === null ? "–" : String(Number(value.toPrecision(4)))))));
}

// The place of a summary on its page, or of two side by side.
function placeOf(one, other = null) {
  return `#${new URLSearchParams(other === null ? { summary: one.summary_id } : { compare: one.summary_id, with: other.summary_id })}`;
}

function judgedBy(summary, judge) {
  const verdicts = summary.verdicts.filter((verdict) => [judge, ""].includes(verdict.judge)); // "": without a judge
  const kind = verdicts.length ? verdicts[0].target.kind : null;
  const covered = kind === "reference" ? [] : verdicts.filter((verdict) => covers(verdict.answer));
  const links = (unit) => (kind === "insight" ? covered.filter((verdict) => verdict.linked_unit === unit) : null);
  return { kind, verdicts, covered, links };
}

// Why a summary has its scores, and these.
function headOf(summary, judge, { verdicts, covered }, addresses) {
  const why = whyWords(summary, verdicts, covered);
  return [
    summary.failure === null ? null : element("p", { class: "failure" }, `This summary failed: ${summary.failure}`),
    why === null ? null : element("p", { class: "why" }, why),
    wrongCitations(summary, covered, addresses),
    scoreList(summary, judge)];
}

function summaryView(summary, judge, files) {
  const bullets = summary.bullets;
  const addresses = passageAddresses(summary, files);
  const judged = judgedBy(summary, judge);
  const { kind, verdicts, covered, links } = judged;
  const asked = verdicts.map((verdict) => verdict.target);
  const silent = summary.query.targets.filter((target) => !asked.includes(target) && (kind ?? target.kind) === target.kind)
    .map((target) => ({ target, answer: null, linked_unit: null, probability: null, reply: null, failure: "no verdict recorded" }));
  const about = [summary.query.topic, summary.query.subtopic].filter((part) => part !== null).join(" · ");
  return [
    element("h3", {}, summary.query.text ?? summary.query.query_id),
    about ? element("p", { class: "tag" }, about) : null,
    element("p", { class: "tag" }, `Summary ${summary.summary_id}, document order: ${summary.order ?? "unknown"}${summary.repeat ? `, repeat ${summary.repeat + 1}` : ""}`),
    headOf(summary, judge, judged, addresses),
    kind === "insight" ? element("p", { class: "tag" }, CHIP_LEGEND) : null,
    element("h3", {}, `Bullets (${bullets.length})`),
    element("ol", { class: "bullets" }, bullets.map((bullet, unit) => bulletItem(bullet, links(unit), addresses))),
    targetLists({ kind, verdicts, covered, silent }, bullets, addresses)];
}

function startDrilldown(section, { queries, files }) {
  const summaries = withQueries(queries);
  const names = new Map(queries.map((query) => [query.haystack, query.haystack_name]));
  const facets = [
    ["Haystack", (haystack) => names.get(haystack) ?? "–", (summary) => summary.query.haystack],
    ["Query", (query) => query.text ?? query.query_id, (summary) => summary.query],
    ["Setting", String, (summary) => summary.setting],
    ["Summarizer", String, (summary) => summary.summarizer],
    ["Summary", (summary) => summary.summary_id, (summary) => summary],
  ].map(([label, words, key]) => Object.assign(new Choice(label, words, choose), { key }));
  const judges = new Choice("Judge", (name) => name ?? "–", choose);
  const beside = new Choice("Side by side with", (other) => (other === null ? "–" : besideWords(other)), choose);
  section.querySelector(".choices").append(...[...facets, judges, beside].map(({ label }) => label));
  const status = section.querySelector(".status");
  const view = section.querySelector(".summary");

  // Each choice offers what the choices before it leave, so that every combination on offer exists.
  function show(wanted, other = null) {
    let left = summaries;
    facets.forEach((facet, place) => {
      const key = facet.offer(left.map(facet.key), wanted[place]);
      left = left.filter((summary) => facet.key(summary) === key);
    });
    const last = facets[facets.length - 1];
    last.label.hidden = last.keys.length < 2;
    const summary = left[0];
    const judge = judges.offer([...summary.verdicts, ...summary.scores].map((one) => one.judge));
    const second = beside.offer([null, ...summaries.filter((one) => one.query === summary.query && one !== summary)], other);
    view.replaceChildren(...partsOf(second === null
      ? summaryView(summary, judge, files) : compareView([summary, second], judge, files)));
    status.textContent = `Showing ${second === null ? "one" : "two"} of the ${summaries.length} summaries on this page.`;
    document.documentElement.dataset.summary = summary.summary_id;
    return summary;
  }

  function choose() {
    const summary = show(facets.map((facet) => facet.chosen), beside.chosen);
    history.replaceState(null, "", placeOf(summary, beside.chosen));
  }

  show([]);
  followFragment((wanted) => {
    const ids = ["summary", "compare", "with"].map((name) => wanted.get(name)).filter((id) => id !== null);
    const missing = ids.find((id) => summaries.every((one) => one.summary_id !== id));
    if (missing !== undefined) status.textContent = `This page holds no summary ${missing}.`;
    if (!ids.length || missing !== undefined) return;
    const [summary, other = null] = ids.map((id) => summaries.find((one) => one.summary_id === id));
    show(facets.map((facet) => facet.key(summary)), other);
    if (other !== null && other.query !== summary.query) status.textContent = `${other.summary_id} answers another query than ${summary.summary_id}.`;
    section.scrollIntoView();
  });
}
