// Search: what a question finds, every signal of every result, what a model would get, and why not another one.

import { address, get, memoryAddress, place, post } from "./api.js";
import { counted, empty, facts, h, number, placeOf, problem, put, words } from "./dom.js";
import { about, acting, text } from "./parts.js";
import { asked as lately } from "./prompts.js";
import { because, signals, steps } from "./signals.js";

const KINDS = ["episodic", "semantic", "procedural", "archival", "core", "working", "resource"];

/** Return the form for a question with its options, and what they are. */
export function form(query, reload) {
  const asked = query.get("q") ?? "";
  const input = h("input", { type: "search", value: asked, "aria-label": "Question", placeholder: "A question, or what it said", "data-focus": !asked, autocomplete: "off" });
  const limit = h("select", null, [5, 10, 20, 50].map((one) => h("option", { value: one, selected: String(one) === (query.get("limit") ?? "10") }, one)));
  const kind = h("select", null, h("option", { value: "" }, "any"), KINDS.map((one) => h("option", { selected: one === query.get("kind") }, one)));
  const asOf = h("input", { type: "date", value: query.get("as_of") ?? "" });
  const known = h("input", { type: "date", value: query.get("known_at") ?? "" });
  const archive = h("input", { type: "checkbox", checked: query.get("archive") === "yes" });
  const least = h("input", { type: "number", min: 0, max: 1, step: 0.05, value: query.get("min") ?? "", placeholder: "gate", title: "The lowest score of what a model would get; empty is the gate of the configuration" });
  const go = (event) => {
    event.preventDefault();
    const next = address("search", { q: input.value.trim(), limit: limit.value === "10" ? "" : limit.value, kind: kind.value, as_of: asOf.value, known_at: known.value, archive: archive.checked && "yes", min: least.value });
    if (next === location.hash) reload();
    else location.hash = next;
  };
  input.style.setProperty("width", "100%");
  document.onkeydown = (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) { event.preventDefault(); input.select(); }
  };
  return { asked, limit, kind, asOf, known, archive, least, shown: h("form", { role: "search", submit: go },
    h("div", { class: "row ask" }, h("span", { class: "wide" }, input), h("button", { class: "main", type: "submit" }, "Search")),
    h("details", { open: ["kind", "as_of", "known_at", "archive", "limit", "min"].some((one) => query.has(one)) },
      h("summary", null, "Options"),
      h("div", { class: "row" }, h("label", null, "Results ", limit), h("label", null, "Kind ", kind), h("label", null, "Threshold ", least),
        h("label", null, "True on ", asOf), h("label", null, "Known on ", known), h("label", null, archive, " Also archived")))) };
}

export async function show(body, query, { reload }) {
  const { asked, limit, kind, asOf, known, archive, least, shown } = form(query, reload);
  put(body, h("h1", { class: asked ? "unseen" : null }, asked ? "Search" : "Why did it say that?"), shown);
  if (!asked) {
    put(body, await welcome());
    return;
  }
  const question = {
    query: asked, limit: Number(limit.value), explain: true, counted: false,
    ...(place.get()?.length ? { namespace: place.get() } : {}),
    ...(kind.value ? { kinds: [kind.value] } : {}),
    ...(asOf.value ? { as_of: `${asOf.value}T23:59:59Z` } : {}), ...(known.value ? { known_at: `${known.value}T23:59:59Z` } : {}),
    ...(archive.checked ? { include_archive: true } : {}),
  };
  const [found, got] = await Promise.all([post("recall", question), block(asked, least.value)]);
  const { results, trace } = found;
  const isGiven = (one) => got.entries.some((entry) => entry.key === one.memory.key && placeOf(entry.namespace) === placeOf(one.memory.namespace));
  if (!results.length) put(body, empty(h("p", null, "Nothing was found. Ask in other words, choose another namespace above, or look at "), h("a", { href: "#/memories" }, "all memories"), "."));
  else put(body, got.entries.length > 0 && got.section, h("section", null, h("h2", null, "What was found, and why"), understood(trace), h("ol", { class: "list results" }, results.map((one, at) => result(one, at, isGiven(one), one.score < Number(least.value))))));
  put(body, leftOut(trace, question), whyNot(question), !(results.length && got.entries.length) && got.section);
}

/** Return what stands here before anything was asked: how to begin, and what was asked last. */
async function welcome() {
  const where = place.get() ?? [];
  const questions = await lately(where, (await get("prompts", { namespace: where, limit: 50 })).items);
  return h("div", null,
    h("p", { class: "lead" }, "Ask what the person asked, or type what the assistant said. You see what the model would get, what was found, and what spoke for it. Open a memory to see who said it, and all that happened to it since. ", h("kbd", null, "/"), "goes to this field."),
    questions.length > 0 && h("section", null, h("h2", null, "Asked lately"), h("ul", { class: "list" }, questions.map((one) => h("li", null, h("p", { class: "said", dir: "auto" }, h("a", { href: address("search", { q: one }) }, one)))))));
}

/** Return how the question was read, and how long each stage took. */
function understood(trace) {
  const intent = trace.intent ?? {};
  const list = (value) => (Array.isArray(value) ? value.join(", ") : String(value ?? ""));
  const spelling = Object.entries(intent.spelling ?? {}).map(([typed, read]) => `${read.join(" or ")} for ${typed}`).join(", ");
  return h("details", null,
    h("summary", null, `${counted(trace.candidates.ranked ?? 0, "candidate")} in ${number(trace.milliseconds.total, 1)} ms, preset ${trace.preset}`,
      trace.degraded.length ? ` · degraded: ${trace.degraded.join("; ")}` : ""),
    h("div", { class: "columns" },
      facts([["language", intent.language], ["asks", list(intent.asks)], ["words", list(intent.terms)], ["names", list(intent.names)],
        ["period", intent.period], ["read as", spelling], ["also looked for", trace.expansions.join(", ")]]),
      facts(Object.entries(trace.candidates).map(([name, count]) => [words(name), count])),
      facts(Object.entries(trace.milliseconds).map(([name, ms]) => [words(name), `${number(ms, 1)} ms`]))));
}

function result(one, at, given, below) {
  const why = one.explanation;
  return h("li", { class: below ? "result below" : "result" },
    h("div", { class: "place-of" }, at + 1),
    h("div", null, text(one.memory, why?.matched_words), about(one.memory),
      h("p", { class: "why" }, given && h("span", { class: "tag good" }, "the model gets this"), below && h("span", { class: "tag bad" }, "below the threshold"), " ", because(one)), steps(one)),
    h("div", { class: "bars-of" }, signals(one)));
}

/** Return what was found and left out again, each with the reason. */
function leftOut(trace, question) {
  const removed = Object.entries(trace.removed ?? {});
  if (!removed.length) return null;
  return h("details", null, h("summary", null, `${counted(removed.length, "memory", "memories")} left out, with reasons`),
    h("ul", { class: "list" }, removed.map(([key, reason]) => {
      const [name, where] = key.split(" in ");
      const namespace = where ? where.split("/") : question.namespace;
      return h("li", null, namespace ? h("a", { href: memoryAddress({ namespace, key: name }) }, h("code", null, name)) : h("code", null, name), h("div", { class: "meta" }, reason));
    })));
}

/** Return a form that names a memory and shows the stage that lost it. */
function whyNot(question) {
  const names = new Map();
  const key = h("input", { list: "known", required: true, "aria-label": "Memory", placeholder: "Key of a memory, or words that it says", autocomplete: "off" });
  key.style.setProperty("width", "100%");
  const known = h("datalist", { id: "known" });
  const answer = h("div", { "aria-live": "polite" });
  const fill = async () => {
    key.removeEventListener("focus", fill);
    const found = await get("memories", { namespace: question.namespace ?? [], limit: 200, past: true });
    for (const one of found.items) names.set(one.key, one);
    known.replaceChildren(...found.items.map((one) => h("option", { value: one.key }, one.text.slice(0, 90))));
  };
  key.addEventListener("focus", () => fill().catch(() => {}));
  const look = acting(async () => {
    await fill();
    const wanted = key.value.trim();
    const one = names.get(wanted) ?? [...names.values()].find((memory) => memory.text.toLowerCase().includes(wanted.toLowerCase())) ?? (/\s/.test(wanted) ? await nearest(wanted, question) : undefined);
    const told = await post("recall/why-not", { recall: question, key: one?.key ?? wanted, ...(one ? { namespace: one.namespace } : {}) });
    answer.replaceChildren(h("div", { class: "panel" },
      h("div", { class: "row" }, h("span", { class: `tag ${told.stage === "returned" ? "good" : "bad"}` }, STAGES[told.stage] ?? words(told.stage)), h("strong", null, told.reason)),
      text(told.memory), about(told.memory, { where: true }), told.result && [h("p", { class: "why" }, because(told.result)), steps(told.result), h("div", null, signals(told.result))],
      stages(told.stage)));
  });
  return h("section", null, h("h2", null, "Why not this one?"),
    h("p", { class: "soft" }, "Name a memory that you expected, and see the stage that lost it."),
    h("form", { class: "row acts", submit: look }, h("span", { class: "wide" }, key, known), h("button", { type: "submit" }, "Show the stage")), answer);
}

/** Return the memory that says some words best, whatever its status. */
async function nearest(words, question) {
  const { results } = await post("recall", { query: words, limit: 1, counted: false, include_archive: true, ...(question.namespace ? { namespace: question.namespace } : {}) });
  return results[0]?.memory;
}

const STAGES = {
  returned: "returned", namespace: "another namespace", exclude: "excluded", kinds: "another kind", status: "does not hold",
  time: "another time", filter: "filtered", candidates: "not a candidate", derivation: "a fact stands for it",
  contentless: "says nothing more", dedupe: "says the same", granularity: "another turn stands for it", min_score: "score too low", budget: "no room", limit: "too far down",
};
const WAY = [["scope", ["namespace", "exclude", "kinds", "status", "time", "filter"]], ["candidates", ["candidates"]],
  ["derivation", ["derivation", "contentless"]], ["duplicates", ["dedupe", "granularity"]], ["threshold", ["min_score"]], ["limit", ["budget", "limit"]], ["returned", ["returned"]]];

/** Return the stages of a recall in order; those that the memory passed, and the one that lost it. */
function stages(lost) {
  const at = WAY.findIndex(([, names]) => names.includes(lost));
  return h("div", { class: "row", "aria-label": "Stages" }, WAY.map(([name], place) =>
    h("span", { class: `tag ${place < at || lost === "returned" ? "good" : place === at ? "bad" : ""}` }, place < at || lost === "returned" ? `${name} passed` : place === at ? `${name}: lost here` : name)));
}

/** Return the memory block that a model would get for the question, as a section and its entries. */
async function block(asked, least) {
  const section = h("section", null, h("h2", null, "What a model would get"));
  const namespace = place.get();
  if (!namespace?.length) {
    put(section, h("p", { class: "soft" }, "A block is made of one namespace. Choose it at the top."));
    return { section, entries: [] };
  }
  try {
    const found = await post("context/inject", { query: asked, namespace, counted: false, ...(least ? { min_score: Number(least) } : {}) });
    if (found.core) put(section, h("pre", { tabindex: 0, "aria-label": "Core memory" }, found.core));
    put(section, found.text ? h("pre", { class: "block", tabindex: 0, "aria-label": "Memory block" }, found.text) : h("p", { class: "soft" }, "Nothing: no memory is likely enough to answer this as a question."));
    put(section, h("div", { class: "meta" }, h("span", null, counted(found.tokens, "token")), h("span", null, counted(found.entries.length, "memory", "memories")),
      found.omitted.length > 0 && h("span", null, `${found.omitted.length} had no room`), h("span", null, placeOf(namespace))));
    return { section, entries: found.entries };
  } catch (error) {
    put(section, problem(error));
    return { section, entries: [] };
  }
}
