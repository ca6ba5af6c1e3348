// Overview: what there is, for whom, what models got of it lately, and what waits for a person.

import { address, get, place } from "./api.js";
import { growth } from "./charts.js";
import { empty, h, placeOf, put, when } from "./dom.js";
import { about, text } from "./parts.js";
import { asked, byDay } from "./prompts.js";
import { may } from "./rights.js";
import { form } from "./search.js";

const NEWEST = 5;

export const concerns = () => true;

export async function show(body, query, { reload }) {
  const namespace = place.get() ?? [];
  put(body, h("h1", null, "Why did it say that?"), form(query, reload).shown);
  const [users, days, lately, newest, open, health] = await Promise.all([
    get("namespaces", { namespace }), get("prompts/days", { namespace }), get("prompts", { namespace, limit: 50 }),
    get("memories", { namespace, kinds: ["semantic", "procedural"], limit: NEWEST }), get("reviews", { namespace, open_only: true, limit: 200 }),
    may.seeAll() ? get("health", { namespace }) : null]);
  if (!users.items.length) {
    put(body, empty(h("p", null, "This memory is empty. Import something: ", h("code", null, "langmemory import FILE"), ", or let an application remember, then ask.")));
    return;
  }
  const sum = (name) => users.items.reduce((all, one) => all + one[name], 0), prompts = days.items.reduce((all, one) => all + one.prompts, 0);
  const questions = await asked(namespace, lately.items);
  put(body, h("ul", { class: "figures" },
    figure(sum("turns"), "turns", "memories", { kind: "episodic" }), figure(sum("facts"), "facts that hold", "memories", { kind: "semantic" }),
    figure(open.items.length, open.next ? "and more open reviews" : "open reviews", "reviews"), figure(prompts, "prompts in 30 days", "prompts"), health?.figures.saved_tokens > 0 && figure(health.figures.saved_tokens, "tokens saved", "health")),
  health?.findings.length > 0 && h("p", { class: "meta" }, h("span", { class: "tag" }, "look at this"), health.findings.map((one) => h("span", null, one.what)), h("a", { href: address("health") }, "what to do")),
  h("div", { class: "charts" }, health && growth(health.figures.growth), byDay(days.items)),
  h("div", { class: "columns" },
    questions.length > 0 && h("section", null, h("h2", null, "Asked lately"), h("ul", { class: "list" }, questions.map((one) => h("li", null, h("p", { class: "said", dir: "auto" }, h("a", { href: address("search", { q: one }) }, one)))))),
    newest.items.length > 0 && h("section", null, h("h2", null, "Newest facts"), h("ul", { class: "list" }, newest.items.map((one) => h("li", null, text(one), about(one)))))),
  h("section", null, h("h2", null, "Users"), h("div", { class: "scroll" }, h("table", null,
    h("thead", null, h("tr", null, ["whose memory", "turns", "facts", "in all", "last"].map((one) => h("th", { scope: "col" }, one)))),
    h("tbody", null, users.items.map((one) => h("tr", null, h("td", null, h("button", { type: "button", class: "link", click: () => { place.set(one.namespace); document.getElementById("namespace").value = JSON.stringify(one.namespace); reload(); } }, placeOf(one.namespace))),
      [one.turns, one.facts, one.memories].map((count) => h("td", { class: "number" }, count.toLocaleString("en"))), h("td", null, when(one.last_at, true)))))))));
}

function figure(count, told, page, values) {
  return h("li", null, h("a", { href: address(page, values) }, h("strong", { class: "number" }, count.toLocaleString("en")), h("span", null, told)));
}
