// Memories: all that may be read, by kind and status, what was said last first.

import { address, get, place, post } from "./api.js";
import { empty, h, notice, put } from "./dom.js";
import { about, acting, paged, text } from "./parts.js";
import { may } from "./rights.js";

const KINDS = ["episodic", "semantic", "procedural", "archival", "core", "working", "resource"];
const STATUSES = ["active", "pending", "approved", "superseded", "archived"];

export const concerns = (event) => event.type === "memory";

export async function show(body, query, { reload }) {
  const kind = query.get("kind") ?? "", status = query.get("status") ?? "active";
  const since = query.get("since") ?? "", until = query.get("until") ?? "";
  const choice = (name, chosen, values) => h("label", null, name, " ", h("select", { name: name.toLowerCase() }, values.map(([value, told]) => h("option", { value, selected: value === chosen }, told))));
  const form = h("form", { class: "row", submit: (event) => event.preventDefault(), change: () => {
    const values = Object.fromEntries(new FormData(form));
    location.hash = address("memories", { ...values, status: values.status === "active" ? "" : values.status });
  } },
    choice("Kind", kind, [["", "any"], ...KINDS.map((one) => [one, one])]),
    choice("Status", status, [...STATUSES.map((one) => [one, one]), ["all", "any"]]),
    h("label", null, "From ", h("input", { type: "date", name: "since", value: since })),
    h("label", null, "Before ", h("input", { type: "date", name: "until", value: until })));
  const where = place.get() ?? [];
  const list = await paged(
    (cursor) => get("memories", { namespace: where, kinds: kind, statuses: status === "all" ? STATUSES : status, since: since && `${since}T00:00:00Z`, until: until && `${until}T00:00:00Z`, limit: 50, cursor }),
    (one) => h("li", null, text(one), about(one, { where: !where.length })),
    empty(h("p", null, kind || since || until || status !== "active"
      ? "No memory is of this kind, status and time. Choose others above."
      : ["This memory is empty. Import something: ", h("code", null, "langmemory import FILE"), "."])));
  put(body, h("h1", null, "Memories"), form, where.length > 0 && may.write() && adding(where, reload), list);
}

/** Return a form that writes a memory by hand; its history says since when it is there. */
function adding(namespace, reload) {
  const input = h("textarea", { "aria-label": "What is to be remembered", dir: "auto", required: true });
  const submit = acting(async () => {
    await post("semantic", { namespace, value: { text: input.value.trim() } });
    input.value = "";
    notice("Remembered.");
    await reload();
  });
  return h("details", null, h("summary", null, "Add one"), h("form", { submit }, input, h("div", { class: "row acts" }, h("button", { class: "main", type: "submit" }, "Remember it"))));
}
