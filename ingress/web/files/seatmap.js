"use strict";
// The picture of the hall: a canvas that is dragged, pinched and tapped. Whoever
// can't use it has the same seats as a list.

holdfast.seatmap = (canvas, hall, chosen, tap) => {
  const cell = 14, ink = canvas.getContext("2d");
  let zoom = 1, left = 0, top = 0, width = 1, height = 1, wanted = false, grid = new Map();
  const css = getComputedStyle(canvas);
  const colour = (name) => css.getPropertyValue(name).trim();

  // fit shows all of it.
  const fit = () => {
    grid = new Map();
    width = height = 1;
    for (const s of hall.all()) {
      grid.set(s.x + "," + s.y, s);
      width = Math.max(width, s.x + 1);
      height = Math.max(height, s.y + 1);
    }
    zoom = Math.min(2, canvas.clientWidth / (width * cell));
    canvas.style.height = Math.max(96, Math.min(320, height * cell * zoom + 12)) + "px"; // a small hall leaves no empty floor
    left = top = 0;
    draw();
  };

  const paint = () => {
    wanted = false;
    const ratio = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
    if (canvas.width !== w * ratio || canvas.height !== h * ratio) { canvas.width = w * ratio; canvas.height = h * ratio; }
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.clearRect(0, 0, w, h);
    const size = cell * zoom, gap = Math.max(0.5, size * 0.12);
    const look = { free: colour("--good"), held: colour("--line"), sold: colour("--soft"), mine: colour("--accent") };
    const shapes = { free: [], held: [], sold: [], mine: [] };
    for (const s of hall.all()) {
      const x = s.x * size - left, y = s.y * size - top;
      if (x > -size && y > -size && x < w && y < h) shapes[chosen.has(s.name) ? "mine" : s.state].push([x, y]);
    }
    for (const [state, list] of Object.entries(shapes)) { // one path for each state: a hall of 20,000 stays smooth
      ink.beginPath();
      // Free seats are full squares, taken ones small, one's own have a hole: the
      // colour is not all there is.
      const inset = state === "free" || state === "mine" ? gap : size * 0.34;
      for (const [x, y] of list) ink.rect(x + inset, y + inset, size - 2 * inset, size - 2 * inset);
      ink.fillStyle = look[state];
      ink.fill();
    }
    ink.fillStyle = colour("--panel");
    for (const [x, y] of shapes.mine) ink.fillRect(x + size * 0.34, y + size * 0.34, size * 0.32, size * 0.32);
    ink.fillStyle = colour("--ink");
    ink.font = Math.max(11, Math.min(16, size)) + "px system-ui, sans-serif";
    for (const s of hall.sections || []) ink.fillText(s.section, 4 - Math.min(0, left), (s.top + 0.75) * size - top);
  };
  const draw = () => { if (!wanted) { wanted = true; requestAnimationFrame(paint); } };

  const scale = (factor, x, y) => {
    const next = Math.max(0.1, Math.min(6, zoom * factor));
    left = (left + x) * next / zoom - x;
    top = (top + y) * next / zoom - y;
    zoom = next;
    draw();
  };

  const down = new Map();
  let moved = 0;
  const spot = (e) => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); down.set(e.pointerId, spot(e)); if (down.size === 1) moved = 0; });
  canvas.addEventListener("pointermove", (e) => {
    const was = down.get(e.pointerId);
    if (!was) return;
    const is = spot(e), others = [...down.entries()].filter(([id]) => id !== e.pointerId);
    moved += Math.abs(is[0] - was[0]) + Math.abs(is[1] - was[1]);
    if (others.length) {
      const o = others[0][1], before = Math.hypot(was[0] - o[0], was[1] - o[1]), after = Math.hypot(is[0] - o[0], is[1] - o[1]);
      if (before > 0) scale(after / before, (is[0] + o[0]) / 2, (is[1] + o[1]) / 2);
    } else if (moved > 8) { left -= is[0] - was[0]; top -= is[1] - was[1]; draw(); }
    down.set(e.pointerId, is);
  });
  const up = (e) => {
    if (!down.delete(e.pointerId) || moved > 8 || e.type !== "pointerup" || down.size) return;
    const [x, y] = spot(e), size = cell * zoom;
    const seat = grid.get(Math.floor((x + left) / size) + "," + Math.floor((y + top) / size));
    if (seat) tap(seat.name);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("wheel", (e) => { if (e.ctrlKey) { e.preventDefault(); scale(e.deltaY < 0 ? 1.15 : 0.87, ...spot(e)); } }, { passive: false });
  addEventListener("resize", draw);

  return { fit, draw, paint, bigger: () => scale(1.5, canvas.clientWidth / 2, canvas.clientHeight / 2), smaller: () => scale(0.67, canvas.clientWidth / 2, canvas.clientHeight / 2) };
};
