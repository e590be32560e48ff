"use strict";
// Holds, candidates, inbox and trail: read when they are asked for.

(() => {
  const { at, el, time, span } = desk, row = desk.row.bind(desk);
  const failed = (note) => (e) => { at(note).textContent = e.message; };

  const release = (id, then) => desk.confirm({ title: "Release the hold", text: id + ". The payment service is asked first: a payment that was faster wins.", label: "Release",
    act: async ({ reason }) => { await desk.ask("POST", "/admin/bookings/" + encodeURIComponent(id) + "/release", { reason }); desk.say("Released: " + id); then?.(); } });
  const cancel = (id, then) => desk.confirm({ title: "Cancel the paid booking", text: id + ". Its seat is given back and its payment refunded.", label: "Cancel and refund",
    act: async ({ reason }) => { await desk.ask("POST", "/admin/bookings/" + encodeURIComponent(id) + "/cancel", { reason }); desk.say("Cancelled: " + id); then?.(); } });

  const holds = async () => {
    const r = await desk.ask("GET", desk.admin("holds"));
    at("holds").hidden = r.holds.length === 0;
    at("holds").tBodies[0].replaceChildren(...r.holds.map((h) => row([[h.booking_id, "id"], h.level, (h.seats || []).length, h.state, [span(h.age_seconds), "n"], time(h.hold_until),
      desk.button("Release", "Release " + h.booking_id, () => release(h.booking_id, holds))])));
    at("holds-note").textContent = r.holds.length === 0 ? "Nobody holds a seat." : r.truncated ? "The oldest 1,000." : "Oldest first.";
    at("holds-load").textContent = "Refresh";
  };
  at("holds-load").addEventListener("click", () => holds().catch(failed("holds-note")));

  const found = (c) => {
    const parts = [el("h3", c.on_roster ? "On the roster" : "Not on the roster"), desk.list([
      ["candidate", c.owner], ["may book", c.on_roster ? (c.levels && c.levels.length ? c.levels.join(", ") : "every level") : undefined],
      ["e-mail", c.email_matches === undefined ? undefined : c.email_matches ? "matches" : "is another one"]])];
    const b = c.booking;
    if (b) parts.push(...booking(b)); else parts.push(el("p", "No live booking."));
    if (b && (b.state === "held" || b.state === "pending")) parts.push(desk.button("Release", "Release " + b.booking_id, () => release(b.booking_id, find)));
    if (b && b.state === "paid") parts.push(desk.button("Cancel and refund", "Cancel " + b.booking_id, () => cancel(b.booking_id, find)));
    if (!c.ended) return [...parts, desk.button("Show ended bookings", "", () => find(true)), el("p", "Reads the whole ledger: some seconds in a large sale.", "hint")];
    if (c.ended.length === 0) parts.push(el("p", "No booking has ended."));
    return [...parts, ...c.ended.flatMap((e) => [el("h3", "Ended: " + e.booking_id), ...booking(e)])];
  };
  const booking = (b) => [desk.list([["booking", b.booking_id], ["state", b.state], ["level", b.level], ["seats", b.seats.join(", ")], ["held until", time(b.hold_until)], ["payment", b.payment]]),
    ...(b.history.length ? [desk.acts.table(["At", "From", "To", "Why", "Who"], b.history.map((h) => [time(h.at), h.from, h.to, h.reason, h.actor]))] : [])];
  const find = async (ended = false) => {
    const body = { code: at("find-code").value, email: at("find-email").value, ended };
    if (ended) desk.report("found", el("p", "Reading the ledger …"));
    try { desk.report("found", ...found(await desk.ask("POST", desk.path("lookup"), body))); } catch (e) { desk.report("found", el("p", e.message, "fault")); }
  };
  at("find").addEventListener("submit", (event) => { event.preventDefault(); find(); });

  const resolve = (item) => desk.confirm({ title: "Resolve", text: item.reason + (item.detail ? ": " + item.detail : "") + ". Closes the item; a payment is refunded only if you say so below.",
    fields: item.payment ? [{ name: "refund", label: "Refund the payment? yes or no", value: "no" }] : [],
    act: async ({ reason, refund }) => { await desk.ask("POST", desk.path("inbox/" + encodeURIComponent(item.id) + "/resolve"), { reason, refund: refund === "yes" }); desk.say("Resolved."); inbox(); } });
  const inbox = async () => {
    const r = await desk.ask("GET", desk.admin("inbox"));
    const open = r.items.filter((i) => !i.done);
    at("inbox").hidden = r.items.length === 0;
    at("inbox").tBodies[0].replaceChildren(...r.items.map((i) => row([time(i.at), i.reason, i.detail, [i.payment, "id"],
      i.done ? "done" : desk.button("Resolve", "Resolve " + i.id, () => resolve(i))])));
    at("inbox-note").textContent = r.items.length === 0 ? "Nothing is parked." : open.length + " open.";
    at("inbox-load").textContent = "Refresh";
  };
  at("inbox-load").addEventListener("click", () => inbox().catch(failed("inbox-note")));

  const trail = async () => {
    const r = await desk.ask("GET", desk.path("trail"));
    at("trail").tBodies[0].replaceChildren(...r.acts.reverse().map((a) => row([time(a.at), a.actor.replace(/^operator:/, ""), a.action, a.before, a.after, a.reason])));
  };
  desk.changed = () => trail().catch(() => {});
})();
