// Health: figures of memory, how it grew, and what is out of bounds with the next step.

import { get, place } from "./api.js";
import { growth } from "./charts.js";
import { facts, h, put, words } from "./dom.js";

const bytes = (count) => (count < 1e6 ? `${Math.round(count / 1e3)} kB` : `${(count / 1e6).toFixed(1)} MB`);
const GROUPS = [
  ["What there is", ["turns", "facts", "entities", "archived", "moved", "file_bytes", "archive_bytes"]],
  ["What waits", ["unread_turns", "reviews", "contradictions", "without_vector"]],
  ["What it saves", ["read_tokens", "saved_tokens"]],
  ["What is thin", ["without_evidence", "duplicates", "stale", "never_shown", "entities_without_facts"]],
];
const NAMES = {
  turns: "turns", facts: "facts that hold", entities: "people and things", archived: "put away", moved: "in the archive file", file_bytes: "size of the memory", archive_bytes: "size of the archive file",
  unread_turns: "turns not reflected on", reviews: "open reviews", contradictions: "of these, contradictions", without_vector: "without a vector",
  read_tokens: "tokens of showing memories", saved_tokens: "tokens saved by it",
  without_evidence: "facts without a source", duplicates: "facts said twice", stale: "faded and never cited", never_shown: "never in a prompt", entities_without_facts: "people and things without a fact",
};

export const concerns = (event) => event.type === "memory" || event.type === "review" || event.type === "run";

export async function show(body) {
  const { figures, findings } = await get("health", { namespace: place.get() ?? [] });
  put(body, h("h1", null, "Health"),
    findings.length ? findings.map((one) => h("div", { class: "panel" }, h("div", { class: "row" }, h("span", { class: `tag ${one.state === "fail" ? "bad" : ""}` }, one.state === "fail" ? "out of bounds" : "look at this"), h("strong", null, one.what)), h("p", null, one.advice)))
      : h("p", { class: "lead" }, "Nothing is out of bounds."),
    h("div", { class: "charts" }, growth(figures.growth)),
    h("div", { class: "columns" }, GROUPS.map(([title, names]) => h("section", null, h("h2", null, title),
      facts(names.map((name) => [NAMES[name] ?? words(name), h("span", { class: "number" }, name.endsWith("bytes") ? bytes(figures[name]) : figures[name].toLocaleString("en"))]))))),
    h("p", null, h("a", { href: "#/nights" }, "Nights of maintenance"), " keep it so."));
}
