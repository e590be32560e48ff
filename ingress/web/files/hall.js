"use strict";
// The named seats of a level: where each stands, what is known of it, and a live
// stream of changes. It draws nothing.

holdfast.hall = (sale, changed) => {
  let plan = [], seats = new Map(), version = "", source = null, tries = 0;

  // place gives every seat its column and row on a grid; an aisle is one column.
  const place = (level) => {
    seats = new Map();
    let y = 0;
    for (const s of level.sections) {
      y += 2; // the section's name
      for (const r of s.rows) {
        let x = 0;
        for (const run of r.runs) {
          for (const name of run) seats.set(name, { name, section: s.section, row: r.row, run, x: x++, y, price: s.price, accessible: (r.accessible || []).includes(name), state: "free" });
          x++;
        }
        y++;
      }
      s.top = seats.get(s.rows[0].runs[0][0]).y - 1;
    }
  };

  const set = (names, state, hit) => {
    for (const name of names || []) {
      const seat = seats.get(name);
      if (seat && seat.state !== state) { seat.state = state; hit.push(seat); }
    }
  };
  const apply = (doc, whole) => {
    const hit = [];
    version = doc.version;
    if (whole) for (const seat of seats.values()) if (seat.state !== "free" && !(seat.name in doc.held) && !doc.sold.includes(seat.name)) { seat.state = "free"; hit.push(seat); }
    set(Object.keys(doc.held), "held", hit);
    set(doc.sold, "sold", hit);
    set(doc.free, "free", hit);
    if (hit.length) changed(hit);
  };

  // follow hears of changes. A delta that does not follow on what is known asks
  // for the whole again; so does a browser that was away for long.
  const follow = () => {
    if (source) source.close();
    source = new EventSource("/sales/" + sale + "/seats/stream?since=" + encodeURIComponent(version));
    source.addEventListener("snapshot", (e) => apply(JSON.parse(e.data), true));
    source.addEventListener("delta", (e) => {
      const doc = JSON.parse(e.data);
      if (doc.from !== version) { version = ""; return follow(); }
      apply(doc, false);
    });
    source.onopen = () => { tries = 0; };
    source.onerror = () => { // a crowd of pages must not come back in one instant
      source.close();
      setTimeout(follow, holdfast.between(1, 3) * Math.min(10, ++tries));
    };
  };

  return {
    async load(name) {
      if (!plan.length) {
        const r = await holdfast.fetch("/sales/" + sale + "/seats");
        if (!r || !r.ok) return false;
        plan = r.doc.plan;
        version = r.doc.version;
        this.first = r.doc;
      }
      const level = plan.find((l) => l.level === name);
      if (!level) return false;
      place(level);
      this.sections = level.sections;
      apply(this.first, true);
      version = ""; // the stream begins with all that changed since
      follow();
      return true;
    },
    stop() { if (source) source.close(); source = null; },
    seat: (name) => seats.get(name),
    all: () => seats.values(),
    // together finds the first n free neighbours, from the best row on.
    together(n) {
      const seen = new Set();
      for (const { run } of seats.values()) {
        if (seen.has(run)) continue;
        seen.add(run);
        for (let i = 0; i + n <= run.length; i++) {
          const part = run.slice(i, i + n);
          if (part.every((name) => seats.get(name).state === "free")) return part;
        }
      }
      return null;
    },
  };
};
