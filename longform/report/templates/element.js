"use strict";

// Texts of summaries, judges and documents are anyone's: they reach the page as text nodes only.
// An attribute that is a function is called at the event of its name; null is no child.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value);
  }
  made.append(...partsOf(children));
  return made;
}

const partsOf = (nested) => nested.flat(Infinity).filter((part) => part !== null);
const button = (words, click, attributes = {}) => element("button", { type: "button", click, ...attributes }, words);

// A choice among things of any kind, each shown by its words.
class Choice {
  constructor(label, words, change) {
    this.words = words;
    this.keys = [];
    this.select = element("select", { change });
    this.label = element("label", {}, label, this.select);
  }

  get chosen() { return this.keys[this.select.selectedIndex]; }

  offer(keys, wanted = this.chosen) {
    this.keys = [...new Set(keys)];
    this.select.replaceChildren(...this.keys.map((key) => element("option", {}, this.words(key))));
    this.select.selectedIndex = Math.max(0, this.keys.indexOf(wanted));
    return this.chosen;
  }
}

// Opens what the address names behind its `#`, now and whenever it changes.
function followFragment(open) {
  const follow = () => open(new URLSearchParams(location.hash.slice(1)));
  window.addEventListener("hashchange", follow);
  follow();
}

function saveFile(blob, name) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000); // some browsers read it after the click
}

// The rows of each table of a page's data, of all its blocks, which `longform/report/page_data.py` packs.
function pageData(text) {
  const tables = {};
  for (const block of [JSON.parse(text)].flat()) {
    for (const [name, column] of Object.entries(block)) tables[name] = (tables[name] ?? []).concat(valuesOf(column));
  }
  return tables;
}

function valuesOf(column) {
  if (Array.isArray(column)) return column;
  if ("texts" in column) return column.places.map((place) => column.texts[place]);
  if ("sizes" in column) {
    const items = valuesOf(column.items);
    let end = 0;
    return column.sizes.map((size) => (size === null ? null : items.slice(end, end += size)));
  }
  const parts = Object.entries(column.parts).map(([name, part]) => [name, valuesOf(part)]);
  return parts[0][1].map((_, row) => Object.fromEntries(parts.map(([name, values]) => [name, values[row]])));
}
