"use strict";
// Seats over time. Each line has a colour and a dash of its own.

desk.chart = (() => {
  const box = desk.at("chart"), kept = 900;
  const keys = ["free", "held", "paid", "pending"];
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const colours = dark ? ["#9aa4b5", "#ffc46b", "#6ed48c", "#ff9b96"] : ["#5d6675", "#a35c00", "#14722f", "#b3161b"];
  const dashes = [[2, 3], [8, 4], [], [4, 2]];
  const ink = dark ? "#b4bac6" : "#50555f", line = dark ? "#363b45" : "#dfe2e8";
  let data = [[], ...keys.map(() => [])], plot = null;

  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
  const size = () => ({ width: Math.max(240, box.clientWidth), height: 240 });
  const draw = () => {
    if (plot) return plot.setData(data);
    plot = new uPlot({
      ...size(), legend: { live: false }, axes: [axis, { ...axis, size: 55 }], scales: { y: { range: (_, low, high) => [0, Math.max(1, high * 1.05)] } },
      series: [{ label: "Time" }, ...keys.map((k, i) => ({ label: k, stroke: colours[i], dash: dashes[i], width: 2, points: { show: false } }))],
    }, data, box);
  };
  addEventListener("resize", () => plot && plot.setSize(size()));

  const push = (p) => {
    data[0].push(p.t / 1000);
    keys.forEach((k, i) => data[i + 1].push(p[k]));
  };
  return {
    reset(points) { data = [[], ...keys.map(() => [])]; points.forEach(push); draw(); },
    add(p) {
      if (data[0].length && p.t / 1000 <= data[0][data[0].length - 1]) return; // it was in the history
      push(p);
      if (data[0].length > kept) data.forEach((d) => d.shift());
      draw();
    },
  };
})();
