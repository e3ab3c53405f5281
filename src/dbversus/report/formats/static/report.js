"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);

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

  /* ---- charts, drawn when their part is opened ---- */
  let loading = null;
  const plotly = () => {
    loading ??= (async () => {
      const packed = Uint8Array.from(atob(document.getElementById("plotly-gzip").textContent), (c) => c.charCodeAt(0));
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
      const script = document.createElement("script");
      script.textContent = await new Response(stream).text();
      document.head.append(script);
      return window.Plotly;
    })();
    return loading;
  };

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const ofTarget = (index) => colour(`--t${index % 8}`);
  const layout = (more) => {
    const axis = { gridcolor: colour("--hair"), linecolor: colour("--faint"), zeroline: false, tickfont: { size: 11 }, automargin: true };
    return {
      margin: { l: 44, r: 8, t: 6, b: 36 }, paper_bgcolor: "transparent", plot_bgcolor: "transparent", showlegend: false,
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("--soft") },
      hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--faint"), font: { color: colour("--ink"), size: 12 } },
      xaxis: { ...axis, ...more.xaxis }, yaxis: { ...axis, ...more.yaxis }, shapes: more.shapes ?? [],
    };
  };
  const percent = (log) => (Math.exp(log) - 1) * 100;
  /* plotly reads a little HTML in names: labels are shown as they are */
  const short = (text) => (text.length > 34 ? `${text.slice(0, 33)}…` : text).replaceAll("&", "&amp;").replaceAll("<", "&lt;");

  const slotChart = (test, metric) => {
    const traces = [], shapes = [], all = [];
    const margin = data.metrics[metric].margin * 100;
    shapes.push({ type: "rect", xref: "paper", x0: 0, x1: 1, y0: percent(-Math.log1p(margin / 100)), y1: margin, fillcolor: colour("--band"), line: { width: 0 }, layer: "below" });
    shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: 0, y1: 0, line: { color: colour("--soft"), width: 1 }, layer: "below" });
    test.slots.forEach((slot, place) => {
      const [x, y, mx, my] = [[], [], [], []];
      const room = 0.8 / test.slots.length, start = -0.4 + place * room;
      for (const [block, logs] of Object.entries(slot.blocks[metric])) {
        const left = Number(block) + 1 + start;
        logs.forEach((log, row) => { x.push(left + room * (row + 0.5) / logs.length); y.push(percent(log * data.step)); });
        mx.push(left + room / 2);
        my.push(percent(logs.reduce((sum, log) => sum + log, 0) / logs.length * data.step));
      }
      all.push(...y);
      const ink = ofTarget(slot.target), name = short(data.labels[slot.target]);
      traces.push({ x, y, mode: "markers", type: "scatter", marker: { color: ink, size: 4, opacity: 0.28 }, hoverinfo: "skip" });
      traces.push({ x: mx, y: my, mode: "markers", type: "scatter", name, marker: { color: ink, size: 10, symbol: "diamond", line: { color: colour("--paper"), width: 1.5 } },
        customdata: mx.map((at) => Math.round(at)), hovertemplate: "block %{customdata}: %{y:+.2f} %<extra>" + name + "</extra>" });
      const ratio = slot.ratio[metric];
      if (ratio) shapes.push({ type: "line", xref: "paper", x0: 0, x1: 1, y0: (ratio - 1) * 100, y1: (ratio - 1) * 100, line: { color: ink, width: 1.25, dash: "dot" } });
    });
    if (!all.length) return null;
    all.sort((a, b) => a - b);
    const low = Math.min(all[Math.floor(all.length * 0.02)], -margin), high = Math.max(all[Math.ceil(all.length * 0.98) - 1], margin);
    const room = (high - low) * 0.08;
    return [traces, layout({ shapes, xaxis: { title: { text: "block", font: { size: 11 } }, tick0: 1, dtick: 1, showgrid: false },
      yaxis: { title: { text: "difference, %", font: { size: 11 } }, range: [low - room, high + room] } })];
  };

  const nines = (p) => -Math.log10(1 - p / 100);
  const latencyChart = (test) => {
    const marks = [0, 50, 90, 99, 99.9, 99.99];
    const deepest = Math.max(...test.latency.map((one) => nines(one.p.at(-1))));
    const traces = test.latency.map((one) => {
      const name = short(data.labels[one.target]);
      return { x: one.us, y: one.p.map(nines), customdata: one.p, mode: "lines", type: "scatter", name, line: { color: ofTarget(one.target), width: 2, shape: "hv" },
        hovertemplate: "%{customdata:.4~g} % ≤ %{x:.4~s} µs<extra>" + name + "</extra>" };
    });
    const ticks = marks.filter((p) => nines(p) <= deepest + 0.02);
    return [traces, layout({ xaxis: { type: "log", title: { text: "µs", font: { size: 11 } }, nticks: 6, exponentformat: "none", separatethousands: true, minorloglabels: "none" },
      yaxis: { tickvals: ticks.map(nines), ticktext: ticks.map((p) => `${p} %`), range: [-0.05, deepest + 0.1] } })];
  };

  const resized = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      if (contentRect.width && target.classList.contains("js-plotly-plot")) window.Plotly.Plots.resize(target);
    }
  });

  const draw = async (part) => {
    const test = data.tests[part.dataset.test];
    const boxes = [...part.querySelectorAll(".chart")];
    if (!boxes.length) return;
    let library;
    try { library = await plotly(); } catch { library = null; }
    for (const box of boxes) {
      const kind = box.dataset.chart;
      const chart = library && (kind === "latency" ? latencyChart(test) : slotChart(test, Number(kind)));
      if (!chart) {
        box.className = "chart none";
        box.textContent = library ? "Nothing was measured here." : "This browser cannot draw the charts; the tables hold all figures.";
        continue;
      }
      library.react(box, chart[0], chart[1], { displayModeBar: false });
      resized.observe(box);
    }
  };

  const parts = [...document.querySelectorAll("details.test")];
  for (const part of parts) {
    part.addEventListener("toggle", () => { if (part.open) draw(part); });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => parts.filter((part) => part.open).forEach(draw));

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
