// Nights: what maintenance changed, night by night, what one would do now, and taking one back.

import { address, get, memoryAddress, place, post } from "./api.js";
import { columns, growth } from "./charts.js";
import { counted, empty, h, notice, placeOf, problem, put, when, words } from "./dom.js";
import { acting, action, changed, paged } from "./parts.js";
import { may } from "./rights.js";

const DRAWN = 30;
const TASKS = {
  expire: "what had its time", duplicates: "what was said twice", contradictions: "what contradicts", reviews: "what fades and is asked about", promote: "what is used much", demote: "what is not used",
  evict: "what was too much", archive: "what was put away", notes: "notes", consolidate: "the dream: what belongs together", summarise: "summaries", graduate: "what was approved",
};

export const concerns = (event) => event.type === "run";

export async function show(body, query, { reload }) {
  const namespace = place.get() ?? [];
  const [{ figures }, found] = await Promise.all([get("health", { namespace }), get("nights", { namespace, limit: DRAWN })]);
  const drawn = found.items.toReversed();
  const list = h("div"), fill = async (found) => list.replaceChildren(await paged((cursor) => (cursor ? get("nights", { namespace, limit: DRAWN, cursor }) : found ?? get("nights", { namespace, limit: DRAWN })), (night) => item(night, reload, namespace),
    empty("No night of maintenance has changed this memory yet. Have one look now, or run ", h("code", null, "langmemory maintain"), " every night.")));
  await fill(found);
  put(body, h("h1", null, "Nights"), h("p", { class: "lead" }, "At night memory is put in order: duplicates are merged, what faded is put away, what belongs together is summed up. Each night can be taken back."),
    h("div", { class: "charts" }, growth(figures.growth), drawn.length > 0 && columns("Changed by night", drawn.map((one) => one.changes), drawn.map((one) => one.at.slice(0, 10)), drawn.map((one) => one.undone))),
    may.undo() && planning(namespace, fill), list);
}

/** Return a button that tells what a night would do now, and does it; the plan stays beside the result. */
function planning(namespace, fill) {
  const answer = h("div", { "aria-live": "polite" });
  const ask = (dry_run) => post("nights", { ...(namespace.length ? { namespace } : {}), dry_run });
  const look = acting(async () => {
    const planned = await ask(true);
    const sides = h("div", { class: "columns" }, side("It would", planned, planned.reports));
    const act = h("div", { class: "row acts" }, h("button", { type: "button", class: "main", click: acting(async () => {
      const done = await ask(false);
      sides.append(side("It did", done, done.reports));
      act.replaceChildren(h("button", { type: "button", click: () => answer.replaceChildren() }, "Close"));
      await fill();
    }) }, "Do it now"));
    answer.replaceChildren(h("div", { class: "panel", "data-keep": true }, sides, lineCount(planned) ? act : null));
  });
  return h("div", null, h("div", { class: "row acts" }, h("button", { type: "button", click: look }, "What would a night do now?")), answer);
}

const lineCount = (found) => found.reports.reduce((sum, one) => sum + one.lines.length, 0);

/** Return what the tasks of a night did or would do, in sentences. */
function side(title, found, reports) {
  const told = reports.filter((one) => one.told.length || one.advice.length || one.refused.length || one.error);
  return h("div", null, h("h2", { class: "question" }, `${title}: ${counted(lineCount(found), "change")}`), told.map((one) => h("div", null, h("h3", null, TASKS[one.task] ?? words(one.task)),
    h("ul", { class: "steps" }, one.told.slice(0, 40).map((line) => h("li", { dir: "auto" }, line)), one.told.length > 40 && h("li", { class: "soft" }, `and ${one.told.length - 40} more`),
      one.advice.map((line) => h("li", { class: "soft" }, line)), one.refused.map((line) => h("li", { class: "soft" }, `not done: ${line}`)), one.error && h("li", null, `failed: ${one.error}`)))),
  !told.length && h("p", { class: "soft" }, "Nothing is to be done."));
}

/** Return one night: its tasks, what they changed, and taking it back. */
function item(night, reload, namespace) {
  const tasks = Object.entries(Object.groupBy(night.runs, (run) => run.note?.task ?? "other"));
  const answer = h("div", { "aria-live": "polite" });
  const kept = (runs) => runs.reduce((sum, run) => sum + (run.note?.keys?.length ?? 0), 0);
  const preview = acting(async () => {
    const planned = await post("nights/undo", { night: night.id, dry_run: true });
    const result = h("div");
    const sides = h("div", { class: "columns" }, h("div", null, h("h2", { class: "question" }, "Taking it back would"), lines(planned)), result);
    const act = h("div", { class: "row acts" }, h("button", { type: "button", class: "main", click: acting(async () => {
      const done = await post("nights/undo", { night: night.id });
      result.replaceChildren(h("h2", { class: "question" }, "It did"), lines(done));
      act.replaceChildren(h("button", { type: "button", click: () => { answer.replaceChildren(); reload(); } }, "Done"));
      notice(`Taken back: ${counted(done.applied.length, "run")}.`);
    }) }, "Take this night back"));
    answer.replaceChildren(h("div", { class: "panel", "data-keep": true }, sides, act));
  });
  return h("li", { class: "night" },
    h("p", { class: night.undone ? "said over" : "said" }, h("strong", null, when(night.at)), ` ${counted(night.changes, "memory", "memories")}`, " ", night.undone && h("span", { class: "tag bad" }, "undone")),
    h("div", { class: "meta" }, tasks.map(([task, runs]) => h("span", null, `${TASKS[task] ?? words(task)}: ${kept(runs)}`)), h("code", null, night.id)),
    tasks.map(([task, runs]) => h("details", null, h("summary", null, `Show ${TASKS[task] ?? words(task)}`), runs.map((run) => dream(run, !namespace.length)))),
    may.undo() && !night.undone && h("div", { class: "row acts" }, h("button", { type: "button", click: preview }, "Preview undo")), answer);
}

const lines = (done) => (done.applied.length
  ? done.applied.map((one) => h("ul", { class: "steps" }, one.lines.map((line) => h("li", { dir: "auto" }, line))))
  : h("p", { class: "soft" }, "Nothing: it was taken back before."));

/** Return what one run of a night changed, read when it is seen. */
function dream(run, where) {
  const list = h("ol", { class: "list history" });
  const fill = async () => {
    const found = await get("changes", { run_id: run.id });
    list.append(...found.items.map((entry) => h("li", null, h("div", null, action(entry.action)),
      h("div", null, changed(entry), h("div", { class: "meta" }, h("a", { href: memoryAddress(entry) }, entry.key), entry.reason && h("span", null, words(entry.reason)))))));
    if (!found.items.length) list.append(h("li", { class: "soft" }, "No memory; or what it changed was forgotten since."));
  };
  const shown = h("div", null, h("h2", { class: "question" }, h("a", { href: address("run", { id: run.id }) }, run.reason || run.id), where && h("span", { class: "meta" }, placeOf(run.namespace)), run.undone_by && h("span", { class: "tag bad" }, "undone")), list);
  queueMicrotask(() => shown.parentElement?.addEventListener("toggle", () => fill().catch((error) => list.replaceChildren(h("li", null, problem(error)))), { once: true }));
  return shown;
}
