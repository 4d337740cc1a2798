// A table is copied as it is shown: its rows after filter and sort, with intervals. A figure is saved as it is shown.

// Heads and rows as texts; a twin is named with its original, as it may be read without it.
function shownTable(table) {
  const upper = table.tHead.rows.length > 1 ? [...table.tHead.rows[0].cells] : [];
  const spans = upper.map((cell) => ({ group: cell.textContent.trim(), n: cell.colSpan }));
  const groups = spans.flatMap(({ group, n }) => Array(n).fill(group));
  const columns = lastHead(table).map((head, place) => ({
    name: head.textContent.trim(), group: groups[place] ?? "", numeric: head.classList.contains("number"),
  }));
  const rows = [];
  for (const group of rowGroups(table)) {
    for (const row of group.filter((one) => !one.hidden)) {
      rows.push([...row.cells].map((cell, place) => shownCell(cell, group[0].cells[place])));
    }
  }
  return { columns, rows, spans };
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
function latexGroups(spans) {
  if (spans.every(({ group }) => group === "")) return [];
  const heads = spans.map(({ group, n }) => `\\multicolumn{${n}}{c}{${latexText(group)}}`);
  let end = 0;
  const ends = spans.map(({ group, n }) => ({ group, start: end + 1, end: (end += n) }));
  const rules = ends.filter(({ group }) => group !== "").map((one) => `\\cmidrule(lr){${one.start}-${one.end}}`);
  return [`${heads.join(" & ")} \\\\`, rules.join(" ")];
}

function asLatex({ columns, rows, spans }) {
  // Behind a line's end a bracket or an asterisk would be read as an option of it.
  const line = (parts) => `${/^[[*]/.test(parts[0]) ? "{}" : ""}${parts.join(" & ")} \\\\`;
  return [
    "% needs \\usepackage{booktabs}",
    `\\begin{tabular}{${columns.map(({ numeric }) => (numeric ? "r" : "l")).join("")}}`,
    "\\toprule",
    ...latexGroups(spans),
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

// ---------------------------------------------------------------- figures, in black on white with their captions as titles

const LINE = 11; // points of a line of the title
const PNG_SCALE = 3; // pixels for one of the figure's own

// The words in lines that are as wide as the figure; half a point for each point of the letters' size.
function titleLines(words, width) {
  const most = Math.floor(width / 4.6);
  const lines = [""];
  for (const word of words) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (longer.length > most && lines[lines.length - 1] !== "") lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

function captionWords(figure) {
  const caption = figure.querySelector("figcaption").cloneNode(true);
  caption.querySelectorAll("a").forEach((link) => link.remove());
  return caption.textContent.trim().replace(/\s+\.$/, "").split(/\s+/);
}

function svgPart(tag, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}

// The drawing alone, as it stands outside of a page: its size, its ink, its ground and its title are its own.
function wholeFigure(figure) {
  const svg = figure.querySelector("svg").cloneNode(true);
  const { width, height } = figure.querySelector("svg").viewBox.baseVal;
  const lines = titleLines(captionWords(figure), width);
  const above = LINE * (lines.length + 1);
  const size = { width, height: height + above };
  svg.setAttribute("viewBox", `0 ${-above} ${size.width} ${size.height}`);
  for (const [name, value] of Object.entries(size)) svg.setAttribute(name, `${value}pt`);
  svg.setAttribute("style", "color: #1b1f24; background: #ffffff");
  svg.prepend(svgPart("rect", { x: 0, y: -above, ...size, fill: "#ffffff" }));
  const title = svgPart("text", { "font-size": 9, "font-family": "system-ui, sans-serif", fill: "#1b1f24" });
  title.append(...lines.map((line, place) => svgPart("tspan", { x: 4, y: LINE * (place + 1) - above }, line)));
  svg.append(title);
  return { text: new XMLSerializer().serializeToString(svg), size };
}

async function asPng(text, { width, height }) {
  const image = new Image();
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  image.src = address;
  await image.decode();
  const canvas = element("canvas", { width: Math.round(width * PNG_SCALE), height: Math.round(height * PNG_SCALE) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

function makeSavable(figure, place) {
  const section = figure.closest("section[id]");
  const name = `${document.title} ${section === null ? "figure" : section.id} ${place + 1}`.replace(/[^\p{L}\p{N}]+/gu, "-");
  const saves = (kind, act) => button(kind, act, { "aria-label": `Save the figure as ${kind}` });
  const svg = saves("SVG", () => saveFile(new Blob([wholeFigure(figure).text], { type: "image/svg+xml" }), `${name}.svg`));
  const png = saves("PNG", async () => {
    const { text, size } = wholeFigure(figure);
    saveFile(await asPng(text, size), `${name}.png`);
  });
  figure.append(element("div", { class: "tools" }, element("span", { class: "copies" }, "Save ", svg, png)));
}
