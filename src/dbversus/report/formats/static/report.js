"use strict";
(() => {
  /* ---- the verdict table: filter and sort ---- */
  const table = document.getElementById("verdict-table");
  if (table) {
    const rows = [...table.tBodies[0].rows];
    const form = document.querySelector(".filters");
    const chips = [...form.querySelectorAll("[data-verdict]")];
    const field = (id) => document.getElementById(id);
    form.hidden = false;

    const filter = () => {
      const text = field("find").value.trim().toLowerCase();
      const group = field("group").value;
      const target = field("target") ? field("target").value : "";
      const verdicts = new Set(chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.verdict));
      let shown = 0;
      for (const row of rows) {
        const cell = row.dataset;
        const keep = (!text || cell.name.toLowerCase().includes(text)) && (!group || cell.group === group) &&
          (!target || cell.target === target) && (!verdicts.size || verdicts.has(cell.verdict));
        row.hidden = !keep;
        shown += keep;
      }
      const filtered = shown < rows.length;
      chips[0]?.parentElement.classList.toggle("some", verdicts.size > 0);
      field("shown").textContent = filtered ? `${shown} of ${rows.length} shown` : "";
      loosen();
    };

    /* a test's name is written once per run of its targets; out of that order every row says it */
    const loosen = () => {
      let above = null;
      for (const row of table.tBodies[0].rows) {
        if (row.hidden) continue;
        const repeats = above === row.dataset.name;
        row.classList.toggle("again", repeats);
        above = row.dataset.name;
      }
    };

    const value = (row, key) => {
      const text = row.dataset[key];
      if (key === "order" || key === "severity" || key === "target" || key === "n") return Number(text);
      return text === "" ? NaN : Number(text);
    };
    const sort = (key, descending) => {
      const sign = descending ? -1 : 1;
      const sorted = [...rows].sort((a, b) => {
        const [x, y] = [value(a, key), value(b, key)];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
        return sign * (x - y) || a.dataset.order - b.dataset.order || a.dataset.target - b.dataset.target;
      });
      table.tBodies[0].append(...sorted);
      loosen();
    };
    for (const button of table.tHead.querySelectorAll("[data-sort]")) {
      button.addEventListener("click", () => {
        const head = button.parentElement;
        const descending = head.ariaSort === "ascending";
        for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.ariaSort = "none";
        head.ariaSort = descending ? "descending" : "ascending";
        sort(button.dataset.sort, descending);
      });
    }
    for (const chip of chips) {
      chip.addEventListener("click", () => { chip.ariaPressed = String(chip.ariaPressed !== "true"); filter(); });
    }
    form.addEventListener("input", filter);
    filter();
  }

  /* ---- charts: the figures of the point that is nearest to the pointer, or chosen with the arrow keys ---- */
  const pointsOf = (chart) => [...chart.querySelectorAll("[data-say]")].flatMap((line) => {
    const name = line.querySelector("title").textContent, at = line.dataset.at.split("|"), said = line.dataset.say.split("|");
    const text = (place) => chart.dataset.words.replace("{at}", at[place]).replace("{say}", said[place]);
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
  const parts = [...document.querySelectorAll("details.test")];
  for (const part of parts) {
    part.addEventListener("toggle", () => part.querySelectorAll(".plot:not([tabindex])").forEach(readable));
  }

  const openNamed = () => {
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!named || named.tagName !== "DETAILS") return;
    named.open = true;
    named.scrollIntoView();
    named.querySelector("summary").focus({ preventScroll: true });
  };
  addEventListener("hashchange", openNamed);
  openNamed();
})();
