// A sheet to label: its rows one at a time, kept in this browser if it allows, and downloaded as the CSV that is read back.

const FORMULA = /^[=+\-@\t\r]/;
const FIELDS = ["answer", "linked_unit", "note"];

function cellOf(text) {
  return `"${text.replaceAll('"', '""')}"`;
}

function csvOf(data, filled) {
  const head = ["pair", "annotator", ...data.columns, "note"];
  const lines = data.pairs.map((pair) => {
    const own = filled[pair.key] ?? {};
    const note = FORMULA.test(own.note ?? "") ? `'${own.note}` : own.note ?? "";
    return [pair.key, data.annotator, ...data.columns.map((name) => own[name] ?? ""), note];
  });
  return `\uFEFF${[head, ...lines].map((line) => line.map(cellOf).join(",")).join("\r\n")}\r\n`;
}

// Returns the rows of a CSV as this page writes it.
function rowsOf(text) {
  const rows = [[]];
  const cells = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g;
  for (const [whole, quoted, plain, end] of text.replace(/^\uFEFF/, "").matchAll(cells)) {
    if (whole === "" && rows.at(-1).length === 0) continue;
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") rows.push([]);
  }
  return rows.filter((row) => row.length > 1);
}

class Sheet {
  constructor(place, data) {
    this.data = data;
    this.kept = `longform sheet ${data.sheet}`;
    this.filled = this.stored();
    this.at = Math.max(0, data.pairs.findIndex((pair) => !this.answerOf(pair)));
    this.unsaved = false;
    this.progress = element("progress", { max: data.pairs.length, "aria-label": "Rows with an answer" });
    this.count = element("span", {});
    this.heading = element("h2", { tabindex: "-1" });
    this.texts = element("div", { class: "row-texts" });
    this.fields = element("div", { class: "filling" });
    this.status = element("p", { class: "status", role: "status" });
    this.warning = element("p", { class: "failure", hidden: "" },
      "This browser keeps nothing for this page: download the sheet before you close it, and continue from the file.");
    this.copy = element("textarea", { readonly: "", "aria-label": "The sheet as CSV", rows: "6" });
    this.copies = element("details", { toggle: () => this.update() }, element("summary", {}, "The sheet as CSV, to copy"), this.copy);
    this.reading = null; // the documents of the row before; those of the next one are open if they were
    place.append(
      element("p", {}, this.progress, " ", this.count), this.warning, this.heading, this.texts, this.fields, this.moves(),
      this.status, this.files(), this.copies);
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("beforeunload", (event) => {
      if (this.unsaved && !this.stores) event.preventDefault();
    });
    this.show();
  }

  stored() {
    this.stores = true;
    try {
      return JSON.parse(localStorage.getItem(this.kept)) ?? {};
    } catch {
      this.stores = false;
      return {};
    }
  }

  store() {
    this.unsaved = true;
    try {
      localStorage.setItem(this.kept, JSON.stringify(this.filled));
    } catch {
      this.stores = false;
    }
  }

  get pair() { return this.data.pairs[this.at]; }
  get own() { return this.filled[this.pair.key] ??= {}; }
  answerOf(pair) { return this.filled[pair.key]?.answer ?? ""; }
  say(text) { this.status.textContent = text; }

  // ---------------------------------------------------------------- what is seen

  show() {
    this.heading.textContent = `Row ${this.at + 1} of ${this.data.pairs.length}`;
    this.texts.replaceChildren(...this.pair.shown.map(([name, text]) => this.shown(name, text)));
    const chosen = (this.own.answer ?? "").split(this.data.separator);
    this.answers = this.data.answers.map((answer, place) => {
      const input = element("input", { type: this.data.several ? "checkbox" : "radio", name: "answer", value: answer,
        "data-place": place, change: () => this.choose(input) });
      input.checked = this.data.several ? chosen.includes(answer) : this.own.answer === answer;
      return input;
    });
    const labels = this.answers.map((input, place) =>
      element("label", {}, input, place < 9 ? element("kbd", {}, String(place + 1)) : null, this.data.words[place]));
    this.line = element("select", { change: () => this.set("linked_unit", this.line.value) },
      element("option", { value: "" }, "no line"), Array.from({ length: this.pair.n_units }, (_, place) =>
        element("option", { value: String(place + 1) }, `line ${place + 1}`)));
    this.line.value = this.own.linked_unit ?? "";
    this.lineLabel = element("label", {}, "Line that says it", this.line);
    this.note = element("textarea", { rows: "2", input: () => this.set("note", this.note.value) });
    this.note.value = this.own.note ?? "";
    this.fields.replaceChildren(
      element("fieldset", {}, element("legend", {}, "Answer"), ...labels), this.lineLabel,
      element("label", {}, this.data.justified ? "Note: why, in a few words" : "Note, if you want to remark something", this.note));
    this.update();
  }

  shown(name, text) {
    const document = this.data.documents[text];
    const body = document === undefined ? element("p", {}, text) : this.toRead(document);
    return element("div", {}, element("h3", {}, name.replaceAll("_", " ")), body);
  }

  toRead(document) {
    const made = element("details", {}, element("summary", {}, "Read the documents"),
      element("pre", { tabindex: "0", role: "region", "aria-label": "Documents" }, document));
    made.open = this.reading !== null && this.reading.open;
    this.reading = made;
    return made;
  }

  update() {
    const n = this.data.pairs.filter((pair) => this.answerOf(pair)).length;
    this.progress.value = n;
    this.count.textContent = `${n} of ${this.data.pairs.length} rows have an answer`;
    this.lineLabel.hidden = !this.data.links || !this.data.counted.includes(this.own.answer);
    this.warning.hidden = this.stores;
    this.back.disabled = this.at === 0;
    this.on.disabled = this.at === this.data.pairs.length - 1;
    if (this.copies.open) this.copy.value = csvOf(this.data, this.filled);
    const open = this.withoutReason();
    this.say(open.length ? `Without the note that every answer needs: row ${open.slice(0, 8).join(", ")}.` : "");
  }

  withoutReason() {
    if (!this.data.justified) return [];
    return this.data.pairs.flatMap((pair, place) =>
      this.answerOf(pair) && !this.filled[pair.key].note?.trim() ? [place + 1] : []);
  }

  // ---------------------------------------------------------------- what is done

  set(field, value) {
    this.own[field] = value;
    this.store();
    this.update();
  }

  choose(input) {
    if (this.data.several) {
      const none = this.data.none;
      for (const other of this.answers) {
        if (input.checked && (input.value === none) !== (other.value === none)) other.checked = false;
      }
    }
    const chosen = this.answers.filter((one) => one.checked).map((one) => one.value);
    if (!this.data.counted.includes(chosen[0])) this.line.value = this.own.linked_unit = "";
    this.set("answer", chosen.join(this.data.separator));
  }

  go(place) {
    if (place < 0 || place >= this.data.pairs.length) return;
    this.at = place;
    this.show();
    this.heading.focus();
  }

  nextOpen() {
    const { pairs } = this.data;
    const places = pairs.map((_, step) => (this.at + 1 + step) % pairs.length);
    const open = places.find((place) => !this.answerOf(pairs[place]));
    if (open === undefined) this.say("Every row has an answer.");
    else this.go(open);
  }

  clear() {
    delete this.filled[this.pair.key];
    this.store();
    this.show();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") this.heading.focus();
    if (event.target.matches("textarea, select, input[type=file]")) return;
    const input = /^[1-9]$/.test(event.key) ? this.answers[Number(event.key) - 1] : undefined;
    const keys = { n: () => this.go(this.at + 1), p: () => this.go(this.at - 1), u: () => this.nextOpen(),
      l: () => this.line.focus(), m: () => this.note.focus() };
    if (input !== undefined) {
      input.checked = this.data.several ? !input.checked : true;
      this.choose(input);
    } else if (keys[event.key] !== undefined) keys[event.key]();
    else return;
    event.preventDefault();
  }

  moves() {
    this.back = button("Previous", () => this.go(this.at - 1));
    this.on = button("Next", () => this.go(this.at + 1), { class: "main" });
    return element("div", { class: "steps" }, this.back, this.on,
      button("Next without an answer", () => this.nextOpen()), button("Clear this row", () => this.clear()));
  }

  files() {
    const file = element("input", { type: "file", accept: ".csv,text/csv", change: async () => {
      if (file.files.length) this.load(await file.files[0].text());
      file.value = "";
    } });
    return element("div", { class: "steps" }, button(`Download ${this.data.file}`, () => this.download()), element("label", { class: "file" }, "Continue from a downloaded sheet ", file));
  }

  download() {
    saveFile(new Blob([csvOf(this.data, this.filled)], { type: "text/csv" }), this.data.file);
    this.unsaved = false;
  }

  load(text) {
    const [head, ...rows] = rowsOf(text);
    const known = new Set(this.data.pairs.map((pair) => pair.key));
    let taken = 0;
    for (const row of rows) {
      const cells = Object.fromEntries(row.map((cell, place) => [head[place], cell]));
      if (!known.has(cells.pair) || cells.annotator !== this.data.annotator) continue;
      const own = Object.fromEntries(FIELDS.map((name) => [name, cells[name] ?? ""]));
      if (/^'[=+\-@\t\r]/.test(own.note)) own.note = own.note.slice(1);
      this.filled[cells.pair] = own;
      taken += 1;
    }
    this.store();
    this.show();
    this.say(`${taken} of ${rows.length} rows of the file are of this sheet, and are taken.`);
  }
}

new Sheet(document.getElementById("sheet"), JSON.parse(document.getElementById("sheet-data").textContent));
