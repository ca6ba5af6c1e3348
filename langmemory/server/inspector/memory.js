// One memory: what it says, what it rests on, how it fades, what happened to it; and what a person may do.

import { address, get, memoryAddress, named, post } from "./api.js";
import { bars, counted, dialog, empty, facts, h, number, placeOf, problem, put, svg, when, words } from "./dom.js";
import { about, acting, action, begins, changeMade, changed, said, text } from "./parts.js";
import { may } from "./rights.js";

export const concerns = (event, query) => event.type === "memory" && event.id === query.get("key");

export async function show(body, query, { reload }) {
  const where = query.getAll("ns"), key = query.get("key") ?? "";
  let one;
  try {
    one = await get(named("memories", key), { namespace: where });
  } catch (error) {
    if (error.kind !== "not-found") throw error;
    put(body, h("h1", null, "Not there (any more)"), problem(error), await history(where, key));
    return;
  }
  const [rests, fades, past, used, tied] = await Promise.all([one.kind === "episodic" ? conversation(one) : evidence(where, key), fading(where, key), history(where, key), usage(where, key), links(where, key)]);
  const whole = one.text.trim();
  put(body, h("h1", { dir: "auto" }, begins(whole || "(no text)", 300)), whole.length > 300 && h("details", null, h("summary", null, `All ${whole.length.toLocaleString()} characters`), h("pre", { dir: "auto", tabindex: 0, "aria-label": "The whole text" }, whole)),
    about(one, { where: true }), actions(one, reload),
    h("div", { class: "columns" }, h("div", null, rests, tied, past), h("div", null, fades, used, detail(one))));
}

/** Return what a person may do; each is a run that can be undone, but for forgetting. */
function actions(one, reload) {
  const at = { key: one.key, namespace: one.namespace };
  const correct = (given, sentence) => acting(async () => {
    const done = await post("corrections", { ...at, ...given });
    changeMade(done, sentence, reload);
    await reload();
  });
  const button = (told, click, kind = "") => h("button", { type: "button", class: kind, click }, told);
  const archive = one.status === "archived"
    ? button("Restore", acting(async () => { const done = await post("restore", { ...at, reason: "restored in the inspector" }); changeMade(done, "Restored.", reload); await reload(); }))
    : button("Archive", acting(async () => { const done = await post("archive", { ...at, reason: "archived in the inspector" }); changeMade(done, "Archived.", reload); await reload(); }));
  if (!may.write()) return h("p", { class: "soft" }, "Your token only reads, so nothing can be changed here.");
  return h("div", null, h("div", { class: "row acts" },
    one.kind !== "episodic" && button("Correct", () => correctText(one, reload), "main"),
    button(one.pinned ? "Unpin" : "Pin", correct({ pinned: !one.pinned, reason: one.pinned ? "unpinned in the inspector" : "pinned in the inspector" }, one.pinned ? "Unpinned." : "Pinned: it does not fade.")),
    button(one.verified ? "Not verified" : "Verify", correct({ verified: !one.verified, reason: one.verified ? "no longer verified" : "verified in the inspector" }, one.verified ? "No longer verified." : "Verified: it lasts longer.")),
    (one.status !== "archived" || may.decide()) && archive, may.forget() && button("Forget…", () => forget(one), "danger")));
}

function correctText(one, reload) {
  dialog("Correct", (close) => {
    const input = h("textarea", { "aria-label": "What it is to say" });
    input.value = one.text;
    const reason = h("input", { "aria-label": "Why", placeholder: "Why, for the record" });
    reason.style.setProperty("width", "100%");
    const save = acting(async () => {
      const done = await post("corrections", { key: one.key, namespace: one.namespace, text: input.value, updated_at: one.updated_at, reason: reason.value.trim() || "corrected in the inspector" });
      close();
      changeMade(done, "Corrected.", reload);
      await reload();
    });
    return [h("p", { class: "soft" }, "The history keeps what it said, and the change can be undone."),
      h("form", { submit: save }, input, h("div", { class: "row" }, h("span", { class: "wide" }, reason)),
        h("div", { class: "row acts" }, h("button", { class: "main", type: "submit" }, "Save"), h("button", { type: "button", click: close }, "Cancel")))];
  });
}

/** Ask what would go, show it, and forget only then; the proof stands in the same place. */
function forget(one) {
  const asked = { keys: [one.key], namespace: one.namespace };
  dialog("Forget for good", (close) => {
    const shown = h("div", { "aria-live": "polite" }, h("p", null, "Looking at what would go …"));
    const row = h("div", { class: "row acts" }, h("button", { type: "button", click: close }, "Cancel"));
    const told = (found) => facts([["memories", Object.entries(found.kinds).map(([kind, count]) => `${count} ${kind}`).join(", ") || "none"],
      ["rows of history", found.history], ["edges", found.edges], ["people and things", found.entities], ["reviews", found.reviews], ["notes", found.notes], ["facts that stay", found.facts_kept],
      ["words no index may hold", found.words || null]]);
    post("forget", asked).then(({ forgotten, confirmation }) => {
      shown.replaceChildren(h("p", null, "This would go, with all that was made of it alone. It cannot be undone."), told(forgotten),
        h("ul", { class: "soft" }, forgotten.samples.map((sample) => h("li", null, sample))));
      row.prepend(h("button", { type: "button", class: "danger", click: acting(async () => {
        const proof = await post("forget", { ...asked, confirmation });
        shown.replaceChildren(h("p", null, h("span", { class: `tag ${proof.forgotten.purged ? "good" : "bad"}` }, proof.forgotten.purged ? "gone, and proven" : "gone from memory"),
          proof.forgotten.purged ? " The memory was searched for its words afterwards, and holds none." : " Its words may still stand in free pages of the memory; `langmemory forget` in a terminal says why."), told(proof.forgotten),
        h("ul", { class: "soft" }, proof.forgotten.kept.map((one) => h("li", null, `The server may still hold its bytes in ${one}.`))),
        h("p", { class: "mono" }, proof.forgotten.run_id));
        row.replaceChildren(h("button", { type: "button", class: "main", click: () => { close(); location.hash = address("memories"); } }, "Done"));
      }) }, "Forget it"));
    }, (error) => shown.replaceChildren(problem(error)));
    return [shown, row];
  });
}

async function evidence(namespace, key) {
  const found = await get("evidence", { namespace, key, limit: 50 });
  return h("section", null, h("h2", null, "What it rests on"), found.items.length
    ? h("ul", { class: "list" }, found.items.map((one) => h("li", null, text(one), about(one))))
    : h("p", { class: "soft" }, "Nothing: it was said or written as it is."));
}

/** Return what a memory is linked with, in either direction; nothing where it is linked with nothing. */
async function links(namespace, key) {
  const part = await get("graph/subgraph", { namespace, name: `item:${key}`, depth: 1, past: true, limit: 100 });
  const names = new Map(part.entities.map((one) => [one.key, one]));
  const end = (id) => { const one = names.get(id); return id.startsWith("item:") ? h("a", { href: memoryAddress({ namespace, key: id.slice(5) }), dir: "auto" }, one?.name ?? id) : h("span", { dir: "auto" }, one?.name ?? id); };
  const own = part.edges.map((edge, at) => [edge, part.over.includes(at)]).filter(([edge]) => [edge.subject, edge.object].includes(`item:${key}`));
  return own.length > 0 && h("section", null, h("h2", null, "What it is linked with"), h("ul", { class: "list" }, own.map(([edge, over]) => {
    const outward = edge.subject === `item:${key}`, other = outward ? edge.object : edge.subject;
    return h("li", { class: over ? "over" : "" }, h("span", { class: "tag" }, outward ? words(edge.relation) : `← ${words(edge.relation)}`), " ", end(other), " ", h("span", { class: "soft" }, names.get(other)?.kind));
  })));
}

const HOUR_MS = 3_600_000, BESIDE = 3;

/** Return what was said before and after a turn, in the same conversation. */
async function conversation(one) {
  const at = Date.parse(said(one)), moment = (hours) => new Date(at + hours * HOUR_MS).toISOString();
  const found = await get("memories", { namespace: one.namespace, kinds: "episodic", since: moment(-1), until: moment(1), limit: 200 });
  const turns = found.items.filter((other) => other.thread_id === one.thread_id && placeOf(other.namespace) === placeOf(one.namespace)).toReversed();
  const here = turns.findIndex((other) => other.key === one.key);
  const shown = here < 0 ? [] : turns.slice(Math.max(0, here - BESIDE), here + BESIDE + 1);
  return h("section", null, h("h2", null, "Where it was said"), shown.length > 1
    ? h("ol", { class: "list turns" }, shown.map((other) => h("li", { "aria-current": other.key === one.key && "true" }, text(other), about(other))))
    : h("p", { class: "soft" }, "Nothing else was said in this conversation within an hour."));
}

async function history(namespace, key) {
  const found = await get("history", { namespace, key, limit: 200 });
  return h("section", null, h("h2", null, "History"), found.items.length
    ? h("ol", { class: "list history" }, found.items.toReversed().map((entry) => h("li", null,
      h("div", null, action(entry.action), h("div", { class: "meta" }, when(entry.at))),
      h("div", null, changed(entry), h("div", { class: "meta" }, entry.reason && h("span", null, `reason: ${words(entry.reason)}`),
        entry.run_id && (may.seeAll() ? h("a", { href: address("run", { id: entry.run_id }) }, entry.run_id) : h("span", null, entry.run_id)))))))
    : empty("Nothing is recorded of this key."));
}

/** Return how often it stood in prompts, was cited and was right. */
async function usage(namespace, key) {
  const { items: [found] } = await get("context/stats", { namespace, key });
  return h("section", null, h("h2", null, "How it was used"), found
    ? facts([["in prompts", counted(found.loaded, "time")], ["cited by answers", counted(found.referenced, "time")], ["not corrected then", counted(found.succeeded, "time")], ["cost", counted(found.read_tokens, "token")], ["saved", counted(found.saved_tokens, "token")]])
    : h("p", { class: "soft" }, "It stood in no prompt that was counted."));
}

async function fading(namespace, key) {
  const section = h("section", null, h("h2", null, "How it fades"));
  const { ageing } = await get("ageing", { namespace, key });
  if (!ageing) {
    put(section, h("p", { class: "soft" }, "It does not fade: what was said stays as it was said."));
    return section;
  }
  const half = ageing.half_life_days;
  put(section, h("p", { class: "soft" }, "How recently it was said or used. It changes no ranking, and a search finds it as before; nights ask about what nobody uses."), curve(ageing), facts([
    ["left", `${Math.round(100 * ageing.retention)} %`], ["half-life", half ? `${Math.round(half)} days` : "none: it does not fade"],
    ["how it ages", words(ageing.temporal_class)], ["used", ageing.uses ? [counted(ageing.uses, "time"), ageing.used_at && ", last ", when(ageing.used_at, true)] : "never"]]),
  h("h3", null, "Salience"), bars([["salience", ageing.salience, number(ageing.salience), true], ...Object.entries(ageing.parts).map(([name, value]) => [name, value, number(value)])]));
  return section;
}

/** Return the curve of what is left over time: 2^(-age / half-life), with a point for today. */
function curve(ageing) {
  const half = ageing.half_life_days, wide = 420, high = 120, left = 34, bottom = 20;
  const days = half ? Math.max(4 * half, 1.25 * ageing.age_days, 30) : Math.max(2 * ageing.age_days, 365);
  const x = (day) => left + (day / days) * (wide - left - 8);
  const y = (share) => 8 + (1 - share) * (high - 8 - bottom);
  const at = (day) => (half ? 2 ** (-day / half) : 1);
  const points = Array.from({ length: 81 }, (_, n) => (n * days) / 80).map((day) => `${x(day).toFixed(1)},${y(at(day)).toFixed(1)}`);
  return svg("svg", { viewBox: `0 0 ${wide} ${high}`, width: wide, height: high, role: "img", "aria-label": `Retention: ${Math.round(100 * ageing.retention)} percent is left after ${Math.round(ageing.age_days)} days` },
    [1, 0.5, 0].map((share) => [svg("line", { class: "axis", x1: left, x2: wide - 8, y1: y(share), y2: y(share) }), svg("text", { x: 0, y: y(share) + 4 }, `${100 * share} %`)]),
    svg("polyline", { class: "curve", points: points.join(" ") }),
    svg("circle", { class: "now", cx: x(ageing.age_days), cy: y(ageing.retention), r: 4.5 }),
    svg("text", { x: Math.min(x(ageing.age_days) + 8, wide - 40), y: Math.max(18, y(ageing.retention) - 7) }, "today"),
    svg("text", { x: left, y: high - 4 }, "last said or used"), svg("text", { x: wide - 8, y: high - 4, "text-anchor": "end" }, `${Math.round(days)} days`));
}

function detail(one) {
  const by = one.superseded_by && h("a", { href: memoryAddress({ namespace: one.namespace, key: one.superseded_by }) }, one.superseded_by);
  return h("section", null, h("h2", null, "Facets"), facts([
    ["key", h("code", null, one.key)], ["namespace", placeOf(one.namespace)], ["status", one.status], ["superseded by", by],
    ["true from", when(one.valid_at)], ["true until", when(one.invalid_at)], ["known since", when(one.created_at)], ["changed", when(one.updated_at)],
    ["believed until", when(one.expired_at)], ["priority", one.priority], ["privacy", one.privacy], ["owner", one.owner],
    ["importance", number(one.importance)], ["confidence", number(one.confidence)], ["thread", one.thread_id],
    ["accessed", [counted(one.access_count, "time"), one.accessed_at && ", last ", when(one.accessed_at)]]]),
  h("details", null, h("summary", null, "Value"), h("pre", null, JSON.stringify(one.value, null, 2))));
}
