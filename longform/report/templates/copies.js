// A table is copied as it is shown: its rows after filter and sort, with intervals.

// Heads and rows as texts; a twin is named with its original, as it may be read without it.
function shownTable(table) {
  const upper = table.tHead.rows.length > 1 ? [...table.tHead.rows[0].cells] : [];
  const groups = upper.flatMap((cell) => Array(cell.colSpan).fill(cell.textContent.trim()));
  const columns = lastHead(table).map((head, place) => ({
    name: head.textContent.trim(), group: groups[place] ?? "", numeric: head.classList.contains("number"),
  }));
  const rows = [];
  for (const group of rowGroups(table)) {
    for (const row of group.filter((one) => !one.hidden)) {
      rows.push([...row.cells].map((cell, place) => shownCell(cell, group[0].cells[place])));
    }
  }
  return { columns, rows };
}

function shownCell(cell, ofOriginal) {
  if (cell.hasAttribute("data-unknown")) return { text: null, detail: "" };
  const name = cellName(cell);
  const text = name.startsWith("↳ ") ? `${cellName(ofOriginal)}, ${name.slice(2)}` : name;
  return { text, detail: cell.querySelector("small")?.textContent.trim() ?? "" };
}

function wholeHead(column) {
  return column.group ? `${column.group}: ${column.name}` : column.name;
}

function csvField(text) {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// A spreadsheet would compute a text that begins like a formula.
function csvText(text) {
  return /^([=@\t]|[+-].)/.test(text) ? `'${text}` : text;
}

const INTERVAL = /^\[([^,\]]+), ([^\]]+)\]$/;

// Bounds of intervals stand in columns of their own, numbers without separators and signs of per cent.
function asCsv({ columns, rows }) {
  const cells = (place) => rows.map((row) => row[place]);
  const split = columns.map(({ numeric }, place) => numeric && cells(place).some(({ detail }) => INTERVAL.test(detail)));
  const shares = columns.map(({ numeric }, place) => {
    const known = cells(place).filter(({ text }) => text !== null);
    return numeric && known.length > 0 && known.every(({ text }) => text.endsWith(" %"));
  });
  const plain = (text) => text.replace(/ %$/, "").replace(/,(?=\d{3}(\D|$))/g, "");
  const head = columns.flatMap((column, place) => {
    const name = wholeHead(column) + (shares[place] ? " (%)" : "");
    return split[place] ? [name, `${name}, low`, `${name}, high`] : [name];
  });
  const body = rows.map((row) => row.flatMap(({ text, detail }, place) => {
    const bounds = INTERVAL.exec(detail);
    const more = detail && bounds === null ? ` ${detail}` : "";
    const { numeric } = columns[place];
    const shown = text === null ? "" : (numeric ? plain(text) : csvText(text)) + more;
    if (!split[place]) return [bounds === null ? shown : `${shown} ${detail}`];
    return bounds === null ? [shown, "", ""] : [shown, plain(bounds[1]), plain(bounds[2])];
  }));
  return [head, ...body].map((row) => row.map(csvField).join(",")).join("\n") + "\n";
}

function shownText({ text, detail }) {
  return text === null ? "–" : [text, detail].filter((part) => part !== "").join(" ");
}

function asMarkdown({ columns, rows }) {
  const escaped = (text) => text.replace(/[\\`*_|~]/g, "\\$&").replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const line = (parts) => `| ${parts.join(" | ")} |`;
  return [
    line(columns.map((column) => escaped(wholeHead(column)))),
    line(columns.map(({ numeric }) => (numeric ? "---:" : "---"))),
    ...rows.map((row) => line(row.map((cell) => escaped(shownText(cell))))),
  ].join("\n") + "\n";
}

const LATEX = {
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}",
  ">": "\\textgreater{}", "–": "--", "↳": "",
};

function latexText(text) {
  return text.replace(/[\\~^<>–↳&%$#_{}]/g, (mark) => LATEX[mark] ?? `\\${mark}`);
}

function latexCell({ text, detail }) {
  if (text === null) return "--";
  const small = detail ? ` {\\footnotesize ${latexText(detail)}}` : "";
  return `${latexText(text)}${small}`;
}

// The upper heads with their rules, each group with its number of columns.
function latexGroups(columns) {
  if (columns.every(({ group }) => group === "")) return [];
  const spans = [];
  for (const [place, { group }] of columns.entries()) {
    const last = spans[spans.length - 1];
    if (last !== undefined && last.group === group) last.end = place + 1;
    else spans.push({ group, start: place + 1, end: place + 1 });
  }
  const heads = spans.map(({ group, start, end }) => `\\multicolumn{${end - start + 1}}{c}{${latexText(group)}}`);
  const rules = spans.filter(({ group }) => group !== "").map(({ start, end }) => `\\cmidrule(lr){${start}-${end}}`);
  return [`${heads.join(" & ")} \\\\`, rules.join(" ")];
}

function asLatex({ columns, rows }) {
  // Behind a line's end a bracket or an asterisk would be read as an option of it.
  const line = (parts) => `${/^[[*]/.test(parts[0]) ? "{}" : ""}${parts.join(" & ")} \\\\`;
  return [
    "% needs \\usepackage{booktabs}",
    `\\begin{tabular}{${columns.map(({ numeric }) => (numeric ? "r" : "l")).join("")}}`,
    "\\toprule",
    ...latexGroups(columns),
    line(columns.map(({ name }) => latexText(name))),
    "\\midrule",
    ...rows.map((row) => line(row.map(latexCell))),
    "\\bottomrule",
    "\\end{tabular}",
  ].join("\n") + "\n";
}

const FORMATS = { CSV: asCsv, Markdown: asMarkdown, LaTeX: asLatex };

// For browsers that give a page from a disk no clipboard: the text, selected, to be copied by hand.
function offerText(name, text) {
  const area = element("textarea", { readonly: "", rows: "12", "aria-label": `The table as ${name}` });
  area.value = text;
  const dialog = element("dialog", { class: "copied", "aria-label": `The table as ${name}`, close: () => dialog.remove() },
    element("p", {}, "Copy the selected text; this browser gives the page no clipboard."), area,
    button("Close", () => dialog.close()));
  document.body.append(dialog);
  dialog.showModal();
  area.focus();
  area.select();
}

async function copyTable(table, name, status) {
  const shown = shownTable(table);
  const text = FORMATS[name](shown);
  try {
    await navigator.clipboard.writeText(text);
    status.textContent = `${shown.rows.length} rows copied as ${name}`;
  } catch {
    offerText(name, text);
    status.textContent = `${shown.rows.length} rows offered as ${name}`;
  }
}

function makeCopies(table, status) {
  const buttons = Object.keys(FORMATS).map((name) =>
    button(name, () => copyTable(table, name, status), { "aria-label": `Copy as ${name}` }));
  return element("span", { class: "copies" }, "Copy ", buttons);
}
