// Runs: what changed memory on its own or by a person, why, and taking it back.

import { address, get, memoryAddress, named, place, post } from "./api.js";
import { counted, empty, facts, h, placeOf, put, when, words } from "./dom.js";
import { acting, action, changed, paged } from "./parts.js";
import { may } from "./rights.js";

const undone = (run) => run.undone_by && h("span", { class: "tag bad" }, "undone");

export const concerns = (event) => event.type === "run";

export async function show(body) {
  const where = place.get() ?? [];
  put(body, h("h1", null, "Runs"), h("p", { class: "lead" }, "Whatever changed memory, newest first. Each run says why, and can be taken back."),
    await paged((cursor) => get("runs", { namespace: where, limit: 50, cursor }),
      (run) => h("li", null, h("p", { class: run.undone_by ? "said over" : "said" }, h("a", { href: address("run", { id: run.id }) }, run.reason || run.id)),
        h("div", { class: "meta" }, when(run.at), h("span", null, run.kind), h("span", null, counts(run)), undone(run), !where.length && h("span", null, placeOf(run.namespace)))),
      empty(h("p", null, "No run yet. Reflection makes the first one: ", h("code", null, "langmemory reflect"), "; so does a correction of yours."))));
}

const MADE = {
  add: ["fact added", "facts added"], update: ["changed", "changed"], supersede: ["superseded", "superseded"], invalidate: ["no longer true", "no longer true"], merge: ["merged", "merged"], archive: ["archived", "archived"],
  status: ["status changed", "status changed"], entity: ["person or thing", "people and things"], edge: ["connection"], review: ["question for a person", "questions for a person"], link: ["link"],
};

function counts(run) {
  const made = Object.entries(run.note?.changes ?? {}).filter(([name]) => name in MADE);
  if (!made.length && run.note?.keys?.length) return counted(run.note.keys.length, "memory", "memories");
  return made.map(([name, count]) => counted(count, ...MADE[name])).join(", ");
}

export const one = { show: showOne, concerns: (event, query) => event.type === "run" && event.id === query.get("id") };

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

/** Return a button that shows what an undo would bring back and then does it; the plan stays beside the result. */
function undoing(run, reload) {
  if (!may.undo()) return null;
  const answer = h("div", { "aria-live": "polite" });
  const row = h("div", { class: "row acts" });
  const idle = (done) => !(done.added.length + done.changed.length + done.removed.length);
  const side = (title, done) => h("div", null, h("h2", { class: "question" }, title), h("ul", { class: "steps" }, done.lines.map((line) => h("li", { dir: "auto" }, line))));
  row.append(h("button", { type: "button", click: acting(async () => {
    const planned = await post("undo", { run_id: run.id, dry_run: true });
    const sides = h("div", { class: "columns" }, side(idle(planned) ? "Undoing it would change no memory" : "Undoing it would", planned));
    const act = h("div", { class: "row acts" }, h("button", { type: "button", class: "main", click: acting(async () => {
      const done = await post("undo", { run_id: run.id });
      sides.append(side(idle(done) ? "It changed no memory" : "It did", done));
      act.replaceChildren(h("span", null, "Taken back by ", h("a", { href: address("run", { id: done.run_id }) }, done.run_id), "."), h("button", { type: "button", click: () => { answer.replaceChildren(); reload(); } }, "Done"));
      row.replaceChildren();
    }) }, "Undo this run"));
    answer.replaceChildren(h("div", { class: "panel", "data-keep": true }, sides, act));
  }) }, run.undone_by ? "Can it be undone again?" : "Preview undo"));
  return h("div", null, row, answer);
}

function note(told) {
  const shown = Object.entries(told ?? {}).filter(([, value]) => value !== null && value !== "" && value !== 0 && JSON.stringify(value) !== "{}" && JSON.stringify(value) !== "[]");
  if (!shown.length) return null;
  return h("details", null, h("summary", null, "What the run noted"),
    facts(shown.map(([name, value]) => [words(name), typeof value === "object" ? h("code", null, JSON.stringify(value)) : String(value)])));
}
