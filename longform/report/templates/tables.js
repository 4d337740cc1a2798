// Tables sort by a click on a head, and show the rows that hold some words or a chosen name.

const LEAST_FILTERED = 6; // rows
const MOST_CHOICES = 15; // names that a chooser offers
const MOST_CHOOSERS = 3;
const LONG = 25; // rows that scroll below their head

function lastHead(table) {
  return [...table.tHead.rows[table.tHead.rows.length - 1].cells];
}

// A twin is ranked nowhere: it goes where its original goes, and is shown with it.
function rowGroups(table) {
  const groups = [];
  for (const row of table.tBodies[0].rows) {
    if (row.classList.contains("beside") && groups.length) groups[groups.length - 1].push(row);
    else groups.push([row]);
  }
  return groups;
}

function sortBy(table, column, descending) {
  const sign = descending ? -1 : 1;
  const compare = (left, right) => {
    const [a, b] = [left.cells[column], right.cells[column]];
    const unknown = a.hasAttribute("data-unknown") - b.hasAttribute("data-unknown");
    if (unknown !== 0) return unknown; // an unknown is neither high nor low: it stays last
    if (a.dataset.order !== undefined && b.dataset.order !== undefined) {
      return sign * (Number(a.dataset.order) - Number(b.dataset.order));
    }
    return sign * a.textContent.localeCompare(b.textContent, undefined, { numeric: true });
  };
  const groups = rowGroups(table);
  groups.sort(([left], [right]) => compare(left, right));
  table.tBodies[0].append(...groups.flat());
}

function makeSortable(table) {
  const heads = lastHead(table);
  heads.forEach((head, column) => {
    const sort = () => {
      const before = head.getAttribute("aria-sort");
      const descending = before ? before === "ascending" : head.classList.contains("number");
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortBy(table, column, descending);
    };
    head.replaceChildren(button(head.textContent, sort, { title: "Sort by this column" }));
  });
}

// The name alone that a cell shows, without what stands smaller beside it.
function cellName(cell) {
  const clone = cell.cloneNode(true);
  clone.querySelectorAll("small").forEach((small) => small.remove());
  return clone.textContent.trim();
}

// Choosers of text columns with few names, each with its column.
function makeChoosers(table, show) {
  const originals = [...table.tBodies[0].rows].filter((row) => !row.classList.contains("beside"));
  const choosers = [];
  lastHead(table).forEach((head, column) => {
    if (!head.classList.contains("text") || choosers.length === MOST_CHOOSERS) return;
    const names = [...new Set(originals.map((row) => cellName(row.cells[column])))].sort();
    if (names.length < 2 || names.length > MOST_CHOICES || names.length > originals.length / 2) return;
    const chooser = new Choice(`${head.textContent} `, (name) => name ?? "all", show);
    chooser.offer([null, ...names]);
    choosers.push(Object.assign(chooser, { column }));
  });
  return choosers;
}

function makeFilter(table, status) {
  const groups = rowGroups(table).map((rows) => ({ rows, text: rows.map((row) => row.textContent.toLowerCase()).join("\n") }));
  const show = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const chosen = choosers.filter((one) => one.chosen !== null);
    let shown = 0;
    for (const { rows, text } of groups) {
      const found = words.every((word) => text.includes(word))
        && chosen.every((one) => cellName(rows[0].cells[one.column]) === one.chosen);
      for (const row of rows) row.hidden = !found;
      if (found) shown += rows.length;
    }
    const all = table.tBodies[0].rows.length;
    status.textContent = words.length || chosen.length ? `${shown} of ${all} rows` : "";
  };
  const box = element("input", { type: "search", placeholder: "words in a row", autocomplete: "off", spellcheck: "false", input: show });
  const choosers = makeChoosers(table, show);
  return [element("label", {}, "Filter ", box), ...choosers.map(({ label }) => label)];
}

function makeTools(table) {
  const scroll = table.closest(".scroll");
  if (scroll === null) return;
  const rows = table.tBodies[0].rows.length;
  if (rows > LONG) scroll.classList.add("long");
  const status = element("span", { role: "status", class: "said" });
  const tools = element("div", { class: "tools" });
  if (rows >= LEAST_FILTERED) tools.append(...makeFilter(table, status));
  tools.append(makeCopies(table, status), status);
  scroll.before(tools);
}
