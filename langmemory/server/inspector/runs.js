// Runs: what changed memory on its own or by a person, why, and taking it back.

import { address, get, memoryAddress, named, place, post } from "./api.js";
import { empty, facts, h, notice, placeOf, put, when, words } from "./dom.js";
import { acting, action, changed, paged } from "./parts.js";

const undone = (run) => run.undone_by && h("span", { class: "tag bad" }, "undone");

export async function show(body) {
  const where = place.get() ?? [];
  put(body, h("h1", null, "Runs"), h("p", { class: "lead" }, "Whatever changed memory, newest first. Each run says why, and can be taken back."),
    await paged((cursor) => get("runs", { namespace: where, limit: 50, cursor }),
      (run) => h("li", null, h("p", { class: run.undone_by ? "said over" : "said" }, h("a", { href: address("run", { id: run.id }) }, run.reason || run.id)),
        h("div", { class: "meta" }, when(run.at), h("span", null, run.kind), h("span", null, counts(run)), undone(run), !where.length && h("span", null, placeOf(run.namespace)))),
      empty(h("p", null, "No run yet. Reflection makes the first one: ", h("code", null, "langmemory reflect"), "; so does a correction of yours."))));
}

function counts(run) {
  const made = Object.entries(run.note?.changes ?? {});
  return made.map(([name, count]) => `${count} ${words(name)}`).join(", ");
}

export const one = { show: showOne };

async function showOne(body, query, { reload }) {
  const run = await get(named("runs", query.get("id") ?? ""));
  const found = await get("changes", { run_id: run.id });
  put(body, h("h1", null, run.reason || run.id),
    h("div", { class: "meta" }, when(run.at), h("span", null, run.kind), h("span", null, placeOf(run.namespace)), h("code", null, run.id), undone(run)),
    run.undone_by && h("p", null, "Taken back by ", h("a", { href: address("run", { id: run.undone_by }) }, run.undone_by), "."),
    undoing(run, reload),
    h("h2", null, "What changed"),
    found.items.length
      ? h("ol", { class: "list history" }, found.items.map((entry) => h("li", null, h("div", null, action(entry.action)),
        h("div", null, changed(entry), h("div", { class: "meta" }, h("a", { href: memoryAddress(entry) }, entry.key), entry.reason && entry.reason !== run.reason && h("span", null, `reason: ${words(entry.reason)}`))))))
      : h("p", { class: "soft" }, "No memory: it only took note of what it had read, or what it changed was forgotten since."),
    note(run.note));
}

/** Return the buttons that show what an undo would bring back, and then do it. */
function undoing(run, reload) {
  const answer = h("div", { "aria-live": "polite" });
  const row = h("div", { class: "row acts" });
  const lines = (done) => h("ul", null, done.lines.map((line) => h("li", null, line)));
  const undo = h("button", { type: "button", class: "main", click: acting(async () => {
    const done = await post("undo", { run_id: run.id });
    notice(done.added.length + done.changed.length + done.removed.length ? "Taken back." : "Nothing was to be taken back.");
    await reload();
  }) }, "Undo this run");
  row.append(h("button", { type: "button", click: acting(async () => {
    const done = await post("undo", { run_id: run.id, dry_run: true });
    const idle = !(done.added.length + done.changed.length + done.removed.length);
    answer.replaceChildren(h("div", { class: "panel" }, h("h2", { class: "question" }, idle ? "Undoing it would change no memory" : "Undoing it would"), lines(done),
      h("div", { class: "row acts" }, undo)));
  }) }, run.undone_by ? "Can it be undone again?" : "Preview undo"));
  return h("div", null, row, answer);
}

function note(told) {
  const shown = Object.entries(told ?? {}).filter(([, value]) => value !== null && value !== "" && value !== 0 && JSON.stringify(value) !== "{}" && JSON.stringify(value) !== "[]");
  if (!shown.length) return null;
  return h("details", null, h("summary", null, "What the run noted"),
    facts(shown.map(([name, value]) => [words(name), typeof value === "object" ? h("code", null, JSON.stringify(value)) : String(value)])));
}
