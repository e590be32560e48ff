"use strict";
// A roster is dropped, looked at in a dry run, and only then imported.

(() => {
  const { at, el } = desk, drop = at("drop"), input = at("file");
  const name = (v) => v.replaceAll("_", " ");

  const problems = (file) => {
    if (!file.problems) return [el("p", "Every row can be used.")];
    const parts = [el("h3", "Rows that are not imported"),
      desk.acts.table(["Line", "Why", "Field", "Shown"], file.problems.map((p) => [p.line, p.reason, p.field, p.shown]))];
    if (file.problems_omitted) parts.push(el("p", file.problems_omitted + " more are not listed."));
    return parts;
  };
  const counts = ({ rows, problems: _, problems_omitted: __, ...verdicts }) => desk.list([["rows", rows], ...Object.entries(verdicts).filter(([, n]) => n > 0).map(([k, n]) => [name(k), n])]);
  const change = (r) => desk.list([["added", r.added], ["changed", r.changed], ["removed", r.removed], ["as they were", r.unchanged], ["roster afterwards", r.size]]);

  const send = (file, query) => desk.ask("POST", desk.path("roster?" + new URLSearchParams({ add: at("add").checked, ...query })), file, true);

  const offer = async (file) => {
    desk.report("import", el("p", "Reading " + file.name + " …"));
    let r;
    try { r = await send(file, { dry_run: true }); } catch (e) { return desk.report("import", el("p", e.message, "fault")); }
    const go = desk.button("Import " + r.roster.size + " candidates", "", () => desk.confirm({
      title: "Import the roster", text: file.name + ": " + r.roster.added + " added, " + r.roster.changed + " changed, " + r.roster.removed + " removed. Who has booked keeps the booking.", label: "Import",
      act: async ({ reason }) => {
        const done = await send(file, { reason });
        desk.report("import", el("h3", "Imported: " + done.roster.size + " candidates"), change(done.roster), counts(done.file), ...problems(done.file));
        desk.say("The roster has " + done.roster.size + " candidates.");
      } }));
    go.className = "main";
    desk.report("import", el("h3", "Dry run of " + file.name + ": nothing is written yet"), change(r.roster), go, counts(r.file), ...problems(r.file));
  };

  input.addEventListener("change", () => { if (input.files[0]) offer(input.files[0]); input.value = ""; });
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (e) => { e.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (e) => {
    e.preventDefault();
    drop.classList.remove("over");
    if (e.dataTransfer.files[0]) offer(e.dataTransfer.files[0]);
  });
})();
