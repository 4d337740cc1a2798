"use strict";

// Texts of summaries, judges and documents are anyone's: they reach the page as text nodes only.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null));
  return made;
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
