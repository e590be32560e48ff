"use strict";
// The numbers: one stream of events for the sale that is shown.

desk.live = (() => {
  const { at, el, row, span, time } = { ...desk, row: desk.row.bind(desk), el: desk.el, span: desk.span };
  let source = null, last = 0, patience = 5000;

  const tile = (name, value, mood) => {
    const box = el("div", undefined, mood);
    box.append(el("dt", name), el("dd", value));
    return box;
  };
  const rate = (n) => (n || 0).toFixed(n > 0 && n < 10 ? 1 : 0);
  const ago = (now, t) => (t ? span(Math.max(0, (Date.parse(now) - Date.parse(t)) / 1000)) + " ago" : "never");

  const selling = (v) => {
    if (v.redis_lost) return ["Redis has lost the sale", "bad"];
    if (v.redis_foreign && !v.frozen) return ["Redis has it in another build's form: rebuild it", "bad"];
    if (v.frozen) return ["frozen: being rebuilt", "bad"];
    if (v.selling) return ["selling", "good"];
    return [v.open ? "open, outside its times" : "closed", ""];
  };

  const tiles = (s) => {
    const v = s.view, f = s.figures, q = v.queue, r = s.redis;
    const counts = (s.drift && s.drift.counts) || {}, waits = v.queue_age && v.queue_age.counts.oldest_ms;
    const list = [
      tile("Sale", ...selling(v)), tile("Opens", time(v.opens_at)), tile("Closes", time(v.closes_at)),
      tile("Requests / s", rate(f.requests)), tile("Ingresses", f.ingresses ? f.ingresses + " answering" : "idle"), tile("Answers 503 / s", rate(f.unavailable), f.unavailable > 0 ? "bad" : ""),
      tile("Admission p99", f.admit_p99_ms ? (f.slower ? "> " : "≤ ") + f.admit_p99_ms + " ms" : "–"),
      tile("Queue", q ? q.waiting + " waiting, " + q.in_work + " in work" : v.queue_error || "–", q ? "" : "bad"),
      tile("Oldest message", waits ? span(waits / 1000) : "none", waits > 60000 ? "bad" : ""),
      tile("Dead letters", q ? q.dead : "–", q && q.dead ? "bad" : ""),
      tile("Oldest pending", v.oldest_pending_seconds ? span(v.oldest_pending_seconds) : "none", v.oldest_pending_seconds > 60 ? "bad" : ""),
      tile("Oldest hold", v.oldest_hold_seconds ? span(v.oldest_hold_seconds) : "none"),
      tile("Holds over", v.due_holds || "none"), // the sweeps end them within their bound; late ones are an alarm of the reaper
      tile("Redis", r ? r.Role + ", " + r.ConnectedReplicas + " replica" + (r.ConnectedReplicas === 1 ? "" : "s") : s.redis_fault || "–", r && r.Role === "master" ? "" : "bad"),
      tile("Replica lag", r ? r.ReplicaLagBytes + " bytes" : "–"),
      tile("Last sweep", ago(v.now, v.sweep && v.sweep.at)), tile("Last comparison", ago(v.now, v.diff && v.diff.at)),
      tile("Drift", s.drift && s.drift.at ? (counts.open || "none") : "not compared yet", counts.open ? "bad" : ""),
      tile("Roster", v.roster), tile("Live bookings", v.bookings),
    ];
    const c = v.cap_change;
    if (c) list.push(tile("Cap of " + (c.level || "all levels"), c.from + " to " + c.to + ", not finished", "bad"));
    if (v.breaker) list.push(tile("Breaker", v.breaker, "bad"));
    at("tiles").replaceChildren(...list);
  };

  // A line stays and its numbers change: a button that is drawn anew each second is
  // lost under the mouse that presses it.
  const levels = (v) => {
    const body = at("levels").tBodies[0], all = [...v.levels, { ...v.total, level: "" }];
    if (all.length !== body.rows.length || all.some((l, i) => l.level !== body.rows[i].dataset.level)) {
      body.replaceChildren(...all.map((l) => {
        const name = l.level || "All levels";
        const line = row([name, 0, 0, 0, 0, 0, 0, desk.button("Cap", "Change the cap of " + name, () => desk.acts.cap(l.level, Number(line.cells[1].textContent)))], true);
        line.dataset.level = l.level;
        return line;
      }));
    }
    all.forEach((l, i) => [l.cap, l.held, l.paid, l.pending, l.free, l.soft].forEach((n, k) => { body.rows[i].cells[k + 1].textContent = n; }));
  };

  const outcomes = (f) => {
    const rows = Object.entries(f.outcomes || {}).sort((a, b) => b[1] - a[1]).map(([k, n]) => row([k, [rate(n), "n"]], true));
    at("outcomes").tBodies[0].replaceChildren(...(rows.length ? rows : [row(["none at the moment", ""])]));
  };

  const state = (s) => {
    last = Date.now();
    patience = 5000 + 2 * (s.next_ms || 0); // a sale that is slow to read is read less often
    const fault = at("fault");
    fault.hidden = !s.fault;
    if (s.fault && fault.textContent !== s.fault) fault.textContent = s.fault;
    if (s.view) {
      const before = desk.view && desk.view.sale === s.view.sale ? desk.view.epoch : s.view.epoch;
      tiles(s);
      levels(s.view);
      desk.chart.levels(s.view.levels.map((l) => l.level));
      desk.view = s.view;
      if (s.view.epoch !== before) desk.changed(); // a failover, a freeze or a rebuild: the trail tells
    }
    outcomes(s.figures || {});
    if (s.point) desk.chart.add(s.point);
  };

  const link = (text, mood) => {
    const badge = at("link");
    if (badge.textContent !== text) badge.textContent = text;
    badge.className = "badge " + mood;
  };

  setInterval(() => { if (last && Date.now() - last > patience) link("no news for " + span((Date.now() - last) / 1000), "lost"); }, 1000);

  return {
    follow() {
      if (source) source.close();
      last = 0;
      desk.chart.reset([]);
      link("connecting", "");
      source = new EventSource(desk.path("stream"));
      source.addEventListener("history", (e) => desk.chart.reset(JSON.parse(e.data)));
      source.addEventListener("state", (e) => { link("live", "live"); state(JSON.parse(e.data)); });
      source.onerror = () => {
        link("connection lost, trying again", "lost");
        if (source.readyState === EventSource.CLOSED) location.reload(); // the session is over: the page leads to the login
      };
    },
  };
})();
