// Prompts: what models were given of memory, when, and what it cost.

import { address, get, place } from "./api.js";
import { columns } from "./charts.js";
import { counted, empty, h, number, placeOf, put, when } from "./dom.js";
import { acting } from "./parts.js";

const PAGE = 25, QUESTIONS = 5;

export async function show(body) {
  const namespace = place.get() ?? [];
  const [days, found] = await Promise.all([get("prompts/days", { namespace }), get("prompts", { namespace, limit: PAGE })]);
  put(body, h("h1", null, "Prompts"), h("p", { class: "lead" }, "What models really got of memory, the newest first; what you ask here is not among it."));
  if (!found.items.length) {
    put(body, empty("No model was given anything yet. ", h("code", null, "RecallNode"), ", ", h("code", null, "MemoryMiddleware"), " and ", h("code", null, "POST /context/inject"), " note it by themselves."));
    return;
  }
  if (!found.items.some((one) => one.query !== null)) {
    put(body, h("p", { class: "panel" }, "Only figures are kept, for privacy. To keep questions and blocks as well, set ", h("code", null, "recall.prompt_log"), " to ", h("code", null, "texts"), " in the configuration of what answers."));
  }
  const list = h("ol", { class: "list" }), row = h("div", { class: "row acts" });
  const add = (page) => {
    list.append(...page.items.map((one) => item(one, !namespace.length)));
    const last = page.items.at(-1);
    row.replaceChildren(...(page.items.length === PAGE ? [h("button", { type: "button", click: acting(async () => { list.dataset.keep = ""; add(await get("prompts", { namespace, limit: PAGE, before: last.seq })); }) }, "Show more")] : []));
  };
  add(found);
  put(body, h("div", { class: "charts" }, byDay(days.items)), list, row);
}

/** Return prompts, tokens and latency as columns by day. */
export function byDay(days) {
  const names = days.map((one) => one.day);
  return days.length > 0 && [columns("Prompts by day", days.map((one) => one.prompts), names), columns("Tokens by day", days.map((one) => one.tokens), names),
    columns("Milliseconds, median", days.map((one) => Math.round(one.median_milliseconds)), names)];
}

function item(one, where) {
  return h("li", null,
    one.query === null ? h("p", { class: "said soft" }, "Its text was not kept.") : h("p", { class: "said", dir: "auto" }, h("a", { href: address("search", { q: one.query }), title: "Ask it again, of today's memory" }, one.query)),
    h("div", { class: "meta" }, when(one.at), h("span", null, counted(one.memories, "memory", "memories")), h("span", null, counted(one.tokens, "token")), h("span", null, `${number(one.milliseconds, 0)} ms`),
      one.owner && h("span", null, `for ${one.owner}`), where && h("span", null, placeOf(one.namespace))),
    one.block !== null && (one.block ? h("details", null, h("summary", null, "What the model got"), h("pre", { tabindex: 0, "aria-label": "Memory block", dir: "auto" }, one.block)) : h("p", { class: "soft" }, "It got nothing: no memory was likely enough to answer.")));
}

const WHOLE = /^[^.!?\n]{12,100}[?？؟]$/u, FEWEST_WORDS = 4;

/** Return questions to ask: of models lately, where their words are kept, else those that people said as a sentence of its own. */
export async function asked(namespace, prompts) {
  const of = (texts) => [...new Set(texts)].slice(0, QUESTIONS);
  const logged = of(prompts.filter((one) => one.query && one.memories).map((one) => one.query.trim()).filter((one) => one.length <= 120 && !one.includes("\n")));
  if (logged.length) return logged;
  const turns = await get("memories", { namespace, kinds: "episodic", limit: 200 });
  return of(turns.items.filter((one) => !["assistant", "ai"].includes(one.value?.role)).map((one) => one.text.trim()).filter((one) => WHOLE.test(one) && one.split(/\s+/).length >= FEWEST_WORDS));
}
