// Documents, in which a citation marks its passage; texts of anyone's, so text nodes only.

// The place of a document, or null: each of `files` has a haystack with the first and the last number there.
// `what` is "bullet" or "insight"; `passage` is [first sentence, number of sentences], or null if nothing is shared.
function documentAddress(files, haystack, number, { what, words, passage, summary }) {
  const file = files.find((one) => one.haystack === haystack && one.first <= number && number <= one.last)?.file;
  if (file === undefined) return null;
  const named = { haystack, document: number, [what]: words };
  if (passage !== null) Object.assign(named, { sentence: passage[0], sentences: passage[1] });
  const page = /(summaries-\d{4,}\.html)$/.exec(location.pathname);
  if (page !== null) Object.assign(named, { page: page[1], summary });
  return `${file}#${new URLSearchParams(named)}`;
}

function wayBack(wanted) {
  const page = wanted.get("page") ?? "";
  if (!/^summaries-\d{4,}\.html$/.test(page)) return null;
  const place = new URLSearchParams({ summary: wanted.get("summary") ?? "" });
  return element("p", {}, element("a", { href: `${page}#${place}` }, "Back to the summary"));
}

function claimOf(wanted, found) {
  const what = ["bullet", "insight"].find((name) => wanted.has(name));
  if (what === undefined) return [];
  const told = found
    ? `The marked passage shares most with this ${what}; read it before you believe it:`
    : `No passage of this document shares much with this ${what}:`;
  return partsOf([element("p", {}, told), element("blockquote", {}, wanted.get(what)), wayBack(wanted)]);
}

function markedText(pieces, first, n) {
  if (first === null) return { parts: [pieces.join("")], mark: null };
  const passage = pieces.slice(first, first + n).join("");
  const words = passage.trimEnd();
  const mark = element("mark", { tabindex: "-1" }, words);
  return {
    parts: [pieces.slice(0, first).join(""), mark, passage.slice(words.length) + pieces.slice(first + n).join("")],
    mark,
  };
}

function startDocuments(section, { documents }) {
  const [status, claim, article] = [".status", ".claim", ".document"].map((name) => section.querySelector(name));
  const choice = new Choice("Document", (one) => `${one.number} · ${one.title ?? one.doc_id} (${one.topic})`, () => {
    const { haystack, number } = choice.chosen;
    history.replaceState(null, "", `#${new URLSearchParams({ haystack, document: number })}`);
    show(choice.chosen, new URLSearchParams());
  });
  section.querySelector(".choices").append(choice.label);

  function show(one, wanted) {
    choice.offer(documents, one);
    const place = /^\d+$/.test(wanted.get("sentence") ?? "") ? Number(wanted.get("sentence")) : null;
    const first = place !== null && place < one.pieces.length ? place : null;
    const { parts, mark } = markedText(one.pieces, first, Number(wanted.get("sentences") ?? 1) || 1);
    article.replaceChildren(...partsOf([
      element("h3", {}, `Document ${one.number}${one.title === null ? "" : `: ${one.title}`}`),
      element("p", { class: "tag" }, `${one.topic} · ${one.doc_id}`),
      element("div", { class: "text" }, ...parts),
      one.left_out ? element("p", { class: "tag" }, `The document goes on: ${one.left_out} characters are left out here.`) : null]));
    claim.replaceChildren(...claimOf(wanted, mark !== null));
    status.textContent = place !== null && mark === null
      ? "The passage lies in the part that is left out."
      : `Showing one of ${documents.length} documents on this page.`;
    if (mark === null) return;
    mark.scrollIntoView({ block: "center" });
    mark.focus({ preventScroll: true });
  }

  show(documents[0], new URLSearchParams());
  followFragment((wanted) => {
    if (!wanted.has("document")) return;
    const one = documents.find((candidate) => String(candidate.number) === wanted.get("document") &&
      [null, candidate.haystack].includes(wanted.get("haystack")));
    if (one === undefined) status.textContent = `This page holds no document ${wanted.get("document")}.`;
    else show(one, wanted);
  });
}
