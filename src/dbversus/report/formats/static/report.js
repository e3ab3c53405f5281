"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const field = (id) => document.getElementById(id);
  const verdicts = all(".filters [data-verdict]");

  /* ---- tables that sort: their heads become buttons; rows of a group stay with it, and a test without a figure comes last ---- */
  const words = new Intl.Collator(undefined, { numeric: true });
  const figure = (text) => {
    const found = text.replaceAll(",", "").replace("−", "-").match(/^[^\w-]*(-?\d+(\.\d+)?)/);
    return found ? Number(found[1]) : NaN;
  };
  /* what a column is sorted by: a number, or the text where no cell has one */
  const valueIn = (rows, column, key) => {
    const text = (row) => row.cells[column]?.textContent.trim() ?? "";
    if (column === 0) return (row, place) => place;
    if (key === "verdict") return (row) => verdicts.findIndex((chip) => chip.dataset.verdict === row.dataset.verdict);
    if (key === "target") return (row) => Number(row.dataset.target);
    return rows.some((row) => !Number.isNaN(figure(text(row)))) ? (row) => figure(text(row)) : text;
  };
  const compare = (x, y) => typeof x === "string" && typeof y === "string" ? words.compare(x, y) : x - y;
  const sortRows = (rows, valueOf, sign) => rows.map((row, place) => ({ row, place, value: valueOf(row, place) }))
    .sort((a, b) => {
      const [x, y] = [Number.isNaN(a.value), Number.isNaN(b.value)];
      return x || y ? x - y || a.place - b.place : sign * compare(a.value, b.value) || a.place - b.place;
    }).map(({ row }) => row);

  for (const table of all("table.sorts")) {
    const bodies = [...table.tBodies].map((body) => ({ body, rows: all("tr:not(.group)", body) }));
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const named = head.querySelector("[data-sort]"), button = document.createElement("button");
      button.type = "button";
      button.dataset.sort = named?.dataset.sort ?? column;
      button.append(...(named ?? head).childNodes);
      named ? named.replaceWith(button) : head.append(button);
      button.addEventListener("click", () => {
        const descending = head.ariaSort === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.ariaSort = descending ? "descending" : "ascending";
        const valueOf = valueIn(bodies.flatMap(({ rows }) => rows), column, button.dataset.sort);
        for (const { body, rows } of bodies) body.append(...sortRows(rows, valueOf, descending ? -1 : 1));
        table.dispatchEvent(new Event("sorted"));
      });
    });
  }

  /* ---- one filter for verdicts, heat tables, trends and tests ---- */
  const table = field("verdict-table");
  const parts = all("details.test");
  if (table) {
    const rows = [...table.tBodies[0].rows];
    const form = document.querySelector(".filters");
    const found = document.createElement("output");
    parts[0]?.before(found);
    form.hidden = false;

    /* a test's name is written once per run of its targets; out of that order every row says it */
    const loosen = () => {
      let above = null;
      for (const row of table.tBodies[0].rows) {
        if (row.hidden) continue;
        row.classList.toggle("again", above === row.dataset.name);
        above = row.dataset.name;
      }
    };
    const filter = () => {
      const text = field("find").value.trim().toLowerCase(), group = field("group").value, target = field("target")?.value ?? "";
      const wanted = new Set(verdicts.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.verdict));
      const names = new Set();
      for (const row of rows) {
        const of = row.dataset;
        const keep = (!text || of.name.toLowerCase().includes(text)) && (!group || of.group === group) &&
          (!target || of.target === target) && (!wanted.size || wanted.has(of.verdict));
        row.hidden = !keep;
        if (keep) names.add(of.name);
      }
      for (const part of parts) part.hidden = !names.has(part.dataset.test);
      for (const one of all("figure[data-of]")) one.hidden = !names.has(one.dataset.of);
      for (const body of all(".heat tbody")) {
        const [head, ...tests] = body.rows;
        for (const row of tests) row.hidden = !names.has(row.cells[0].textContent);
        head.hidden = tests.every((row) => row.hidden);
      }
      const shown = rows.filter((row) => !row.hidden).length, opened = parts.filter((part) => !part.hidden).length;
      verdicts[0]?.parentElement.classList.toggle("some", wanted.size > 0);
      field("shown").textContent = shown < rows.length ? `${shown} of ${rows.length} shown` : "";
      found.textContent = opened < parts.length ? `${opened} of ${parts.length} tests, by the filter of the verdicts.` : "";
      loosen();
    };
    for (const chip of verdicts) {
      chip.addEventListener("click", () => { chip.ariaPressed = String(chip.ariaPressed !== "true"); filter(); });
    }
    table.addEventListener("sorted", loosen);
    form.addEventListener("input", filter);
    filter();
  }

  /* ---- charts: the figures of the point that is nearest to the pointer, or chosen with the arrow keys ---- */
  const pointsOf = (chart) => all("[data-say]", chart).flatMap((line) => {
    const name = line.querySelector("title").textContent, said = line.dataset.say.split("|");
    const at = (line.dataset.at ?? chart.dataset.at).split("|");
    const text = (place) => chart.dataset.words.replace("{at}", () => at[place]).replace("{say}", () => said[place]);
    return [...line.points].map(({ x, y }, place) => ({ x, y, place, text: `${name}, ${text(place)}` }));
  });

  const readable = (chart) => {
    const points = pointsOf(chart).sort((a, b) => a.place - b.place);
    chart.insertAdjacentHTML("beforeend", '<circle r="8"/>');
    const ring = chart.lastElementChild, figures = document.createElement("output");
    let chosen = -1;
    chart.after(figures);
    chart.tabIndex = 0;

    const choose = (index) => {
      chosen = index;
      const point = points[index];
      ring.style.display = point ? "" : "none";
      ring.setAttribute("cx", point?.x ?? 0);
      ring.setAttribute("cy", point?.y ?? 0);
      figures.textContent = point?.text ?? "";
    };
    const nearest = (event) => {
      const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(chart.getScreenCTM().inverse());
      const far = points.map((point) => Math.hypot(point.x - x, point.y - y));
      choose(far.indexOf(Math.min(...far)));
    };
    chart.addEventListener("pointermove", nearest);
    chart.addEventListener("pointerdown", nearest);
    chart.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") choose(-1); });
    chart.addEventListener("blur", () => choose(-1));
    chart.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: chosen + 1, ArrowLeft: chosen - 1, Home: 0, End: points.length - 1, Escape: -1 };
      if (!(event.key in steps)) return;
      event.preventDefault();
      choose(event.key === "Escape" ? -1 : Math.min(Math.max(steps[event.key], 0), points.length - 1));
    });
    choose(-1);
  };

  /* most tests are never opened */
  const readIn = (part) => all(".plot:not([tabindex])", part).forEach(readable);
  for (const part of all("details")) part.addEventListener("toggle", () => { if (part.open) readIn(part); });
  all("details[open]").forEach(readIn);
  all(".plot:not([tabindex])").filter((chart) => !chart.closest("details")).forEach(readable);

  /* ---- tests: all opened or closed at once, one by its address, and on paper all that are shown ---- */
  const openers = field("openers");
  if (openers) {
    openers.hidden = false;
    openers.addEventListener("click", ({ target }) => {
      if (target.value) for (const part of parts) if (!part.hidden) part.open = target.value === "open";
    });
  }
  const openNamed = () => {
    const named = field(decodeURIComponent(location.hash.slice(1)));
    if (!named || named.tagName !== "DETAILS") return;
    named.hidden = false;
    named.open = true;
    named.scrollIntoView();
    named.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", openNamed);
  openNamed();

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details:not([open])");
    for (const part of opened) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
})();
