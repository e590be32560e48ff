"use strict";
// Seats over time, of one level or of all. Each line has a colour and a dash of
// its own.

desk.chart = (() => {
  const box = desk.at("chart"), choice = desk.at("chart-level"), kept = 900, all = "";
  const keys = ["cap", "held", "paid", "pending", "free"]; // as the stream has them
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const colours = dark ? ["#eceef2", "#ffc46b", "#6ed48c", "#ff9b96", "#8fb4ff"] : ["#16181d", "#a35c00", "#14722f", "#b3161b", "#0b4fd6"];
  const dashes = [[1, 4], [8, 4], [], [4, 2], [2, 3]], styles = ["dotted", "dashed", "solid", "dashed", "dotted"];
  const ink = dark ? "#b4bac6" : "#50555f", line = dark ? "#363b45" : "#dfe2e8";
  let points = [], plot = null;

  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
  const size = () => ({ width: Math.max(240, box.clientWidth), height: 240 });
  const draw = () => {
    const level = choice.value;
    const of = points.filter((p) => p.levels[level]); // a level may be younger than the chart
    const data = [of.map((p) => p.t / 1000), ...keys.map((_, i) => of.map((p) => p.levels[level][i]))];
    if (plot) return plot.setData(data);
    plot = new uPlot({
      ...size(), legend: { live: false, markers: { width: 3, fill: () => "transparent", stroke: (_, i) => colours[i - 1], dash: (_, i) => styles[i - 1] } }, axes: [axis, { ...axis, size: 55 }],
      scales: { y: { range: (_, low, high) => [0, Math.max(1, high * 1.05)] } },
      series: [{ label: "Time" }, ...keys.map((k, i) => ({ label: k, stroke: colours[i], dash: dashes[i], width: 2, points: { show: false } }))],
    }, data, box);
  };
  addEventListener("resize", () => plot && plot.setSize(size()));
  choice.addEventListener("change", draw);

  return {
    reset(history) { points = history; draw(); },
    add(p) {
      if (points.length && p.t <= points[points.length - 1].t) return; // it was in the history
      points.push(p);
      if (points.length > kept) points.shift();
      draw();
    },
    // levels offers what can be chosen, and keeps the choice while it is there.
    levels(names) {
      const offered = [all, ...names], chosen = choice.value;
      if (offered.length === choice.length && offered.every((n, i) => n === choice.options[i].value)) return;
      choice.replaceChildren(...offered.map((n) => new Option(n || "All levels", n)));
      choice.value = offered.includes(chosen) ? chosen : all;
      draw();
    },
  };
})();
