// A page starts here, once all that its scripts define is known.

for (const table of document.querySelectorAll("figure.table table")) {
  makeSortable(table);
  makeTools(table);
}
document.querySelectorAll("figure.plot").forEach(makeSavable);
const hint = document.querySelector(".hint[data-control]");
if (hint !== null) hint.hidden = false;
const drilldownData = document.getElementById("drilldown-data");
if (drilldownData !== null) {
  const files = JSON.parse(document.getElementById("document-files").textContent);
  startDrilldown(document.getElementById("drilldown"), pageData(drilldownData.textContent), files);
}
const documentsData = document.getElementById("documents-data");
if (documentsData !== null) startDocuments(document.getElementById("documents"), pageData(documentsData.textContent));
const matrixData = document.getElementById("matrix-data");
if (matrixData !== null) startMatrix(document.getElementById("matrix"), pageData(matrixData.textContent));
// For tests of the layout: a page wider than its window would scroll sideways as a whole.
document.documentElement.dataset.scrollWidth = document.documentElement.scrollWidth;
document.documentElement.dataset.windowWidth = window.innerWidth;
