// Health: figures of memory, what is out of bounds with the next step, and the nights of maintenance.

import { address, get, place } from "./api.js";
import { empty, facts, h, put, when, words } from "./dom.js";

const bytes = (count) => (count < 1e6 ? `${Math.round(count / 1e3)} kB` : `${(count / 1e6).toFixed(1)} MB`);

export async function show(body) {
  const namespace = place.get() ?? [];
  const [{ figures, findings }, runs] = await Promise.all([get("health", { namespace }), get("runs", { namespace, limit: 200 })]);
  const nights = runs.items.filter((run) => run.kind === "maintenance");
  const told = Object.entries(figures).filter(([, value]) => typeof value === "number");
  put(body, h("h1", null, "Health"),
    findings.length ? findings.map((one) => h("div", { class: "panel" }, h("div", { class: "row" }, h("span", { class: `tag ${one.state === "fail" ? "bad" : ""}` }, one.state === "fail" ? "out of bounds" : "look at this"), h("strong", null, one.what)), h("p", null, one.advice)))
      : h("p", { class: "lead" }, "Nothing is out of bounds."),
    h("div", { class: "columns" },
      h("section", null, h("h2", null, "Figures"), facts(told.map(([name, value]) => [words(name), name.endsWith("bytes") ? bytes(value) : String(value)]))),
      h("section", null, h("h2", null, "Nights"), nights.length
        ? h("ol", { class: "list" }, nights.map((run) => h("li", null, h("p", { class: run.undone_by ? "said over" : "said" }, h("a", { href: address("run", { id: run.id }) }, run.reason)), h("div", { class: "meta" }, when(run.at), run.undone_by && h("span", { class: "tag bad" }, "undone")))))
        : empty("No night of maintenance yet. ", h("code", null, "langmemory maintain --dry-run"), " shows what one would do."))));
}
