// Tables sort by a click on a head.

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
  const groups = [];
  for (const row of table.tBodies[0].rows) {
    // a twin is ranked nowhere: it goes where its original goes
    if (row.classList.contains("beside") && groups.length) groups[groups.length - 1].push(row);
    else groups.push([row]);
  }
  groups.sort(([left], [right]) => compare(left, right));
  table.tBodies[0].append(...groups.flat());
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  heads.forEach((head, column) => {
    const button = element("button", { type: "button", title: "Sort by this column" }, head.textContent);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const descending = before ? before === "ascending" : head.classList.contains("number");
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortBy(table, column, descending);
    });
  });
}
