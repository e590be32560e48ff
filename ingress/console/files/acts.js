"use strict";
// Acts on the sale. Each is confirmed, has a reason, and stands in the trail.

desk.acts = (() => {
  const { at, el } = desk;
  const on = (id, act) => at(id).addEventListener("click", act);

  on("open", () => desk.confirm({ title: "Open the sale", text: "It sells from its opening time on. Every check has to pass.",
    act: async ({ reason }) => { await desk.ask("POST", desk.admin("open"), { reason }); desk.say("The sale is open."); } }));
  on("close", () => desk.confirm({ title: "Close the sale", text: "Nobody is admitted any more, at once. Holds and payments that are under way go on.",
    act: async ({ reason }) => { await desk.ask("POST", desk.admin("close"), { reason }); desk.say("The sale is closed."); } }));

  // An input takes a time of this device's zone without saying so: the dialog does.
  const local = (t) => { const d = new Date(t); return new Date(d - d.getTimezoneOffset() * 60000).toISOString().slice(0, 16); };
  on("times", () => desk.confirm({
    title: "Schedule", text: "In the time of this device (" + Intl.DateTimeFormat().resolvedOptions().timeZone + ").",
    fields: [{ name: "opens_at", label: "Opens", type: "datetime-local", value: desk.view && local(desk.view.opens_at) },
      { name: "closes_at", label: "Closes", type: "datetime-local", value: desk.view && local(desk.view.closes_at) }],
    act: async ({ reason, opens_at, closes_at }) => {
      const same = (value, old) => desk.view && value === local(old) ? undefined : new Date(value).toISOString(); // unchanged: keep its seconds
      await desk.ask("PUT", desk.path("times"), { reason, opens_at: same(opens_at, desk.view?.opens_at), closes_at: same(closes_at, desk.view?.closes_at) });
      desk.say("The times are set.");
    } }));

  const cap = (level, now) => desk.confirm({
    title: level ? "Cap of " + level : "Total cap", text: "Now " + now + ". A cap below the seats in use is refused.",
    fields: [{ name: "cap", label: "New cap", type: "number", min: 0, value: now }], label: "Set the cap",
    act: async ({ reason, cap }) => {
      const a = await desk.ask("PUT", desk.admin(level ? "levels/" + encodeURIComponent(level) + "/cap" : "cap"), { cap: Number(cap), reason });
      desk.say((level || "Total") + ": the cap is " + a.cap + ", " + a.used + " in use.");
    } });
  on("total", () => cap("", desk.view ? desk.view.total.cap : 0));

  on("redrive", () => desk.confirm({ title: "Redrive dead letters", text: "Moves parked events back into the queue, of all sales.",
    fields: [{ name: "most", label: "At most", type: "number", min: 1, value: 100 }],
    act: async ({ reason, most }) => { const r = await desk.ask("POST", "/admin/redrive", { most: Number(most), reason }); desk.say(r.moved + " moved back."); } }));

  const table = (heads, rows) => {
    const t = el("table"), tr = el("tr");
    for (const h of heads) { const th = el("th", h); th.scope = "col"; tr.append(th); }
    t.createTHead().append(tr);
    t.createTBody().append(...rows.map((r) => desk.row(r)));
    const box = el("div", undefined, "scroll");
    box.append(t);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", heads.join(", "));
    return box;
  };

  const wait = async (what, read) => {
    desk.report("report", el("p", what + " …"));
    try { desk.report("report", ...await read()); } catch (e) { desk.report("report", el("p", e.message, "fault")); }
  };

  on("audit", () => wait("Reading ledger, Redis and gateways", async () => {
    const r = await desk.ask("GET", desk.admin("audit"));
    const parts = [el("h3", r.ok ? "Every promise holds" : r.frozen ? "Not judged: Redis is lost or being rebuilt" : r.violations.length + " violations"),
      desk.list([...Object.entries(r.bookings || {}).map(([k, n]) => [k.toLowerCase(), n]), ["in Redis", r.in_redis], ["captured payments", r.captured]])];
    if (r.violations && r.violations.length) parts.push(table(["Promise", "About", "What"], r.violations.map((v) => [v.invariant, [v.id, "id"], v.detail])));
    return parts;
  }));

  const drift = (r) => {
    const kinds = Object.entries(r.drift || {});
    const head = r.frozen ? "Frozen: rebuild first" : r.clean ? "Redis and ledger agree" : r.dry_run ? "What a repair would look at" : "Repaired what could be proved";
    return [el("h3", head), desk.list([["bookings in Redis", r.records], ["live in the ledger", r.live]]),
      ...(kinds.length ? [table(["Difference", "Found", "Repaired"], kinds.map(([k, d]) => [k, d.count ?? d.Count, d.repaired ?? d.Repaired ?? 0]))] : [])];
  };
  on("repair", () => wait("Comparing, without changing anything", async () => {
    const r = await desk.ask("POST", desk.path("repair"), { dry_run: true });
    const parts = drift(r);
    if (!r.clean && !r.frozen) parts.push(desk.button("Repair it", "", () => desk.confirm({ title: "Repair", text: "Mends what Redis and ledger can be shown to disagree in.",
      act: async ({ reason }) => desk.report("report", ...drift(await desk.ask("POST", desk.path("repair"), { reason }))) })));
    return parts;
  }));

  return { cap, table };
})();
