// A page starts here, once all that its scripts define is known.

for (const table of document.querySelectorAll("figure.table table")) {
  makeSortable(table);
  makeTools(table);
}
document.querySelectorAll("figure.plot").forEach(makeSavable);
const hint = document.querySelector(".hint[data-control]");
if (hint !== null) hint.hidden = false;
const starts = { drilldown: startDrilldown, documents: startDocuments, matrix: startMatrix };
for (const [name, start] of Object.entries(starts)) {
  const data = document.getElementById(`${name}-data`);
  if (data !== null) start(document.getElementById(name), pageData(data.textContent));
}
// For tests of the layout: a page wider than its window would scroll sideways as a whole.
document.documentElement.dataset.scrollWidth = document.documentElement.scrollWidth;
document.documentElement.dataset.windowWidth = window.innerWidth;
