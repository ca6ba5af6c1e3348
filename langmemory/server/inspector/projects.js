// Projects: folders that belong together, with what is known of them, and what can be done.

import { address, get, place, post } from "./api.js";
import { counted, empty, h, notice, put, when } from "./dom.js";
import { acting } from "./parts.js";
import { may } from "./rights.js";

export const concerns = (event) => event.type === "memory" && event.namespace?.[0] === "projects";

/** Return the namespace of a project: a period is no part of a label. */
const placeOf = (name) => ["projects", name.replace(/\.|~(?=2E|7E)/g, (found) => `~${found.charCodeAt(0).toString(16).toUpperCase()}`)];

export async function show(body, query, { reload }) {
  const { items } = await get("projects");
  put(body, h("h1", null, "Projects"), h("p", { class: "lead" }, "Folders that belong together. Each has its documents and its core block in a namespace of its own."));
  if (!items.length) {
    put(body, empty("There is no project. Find some: ", h("code", null, "langmemory projects discover FOLDER"), ", and register one: ", h("code", null, "langmemory projects add FOLDER"), "."));
    return;
  }
  const reviews = await Promise.all(items.map((one) => get("reviews", { namespace: placeOf(one.name), limit: 200 })));
  put(body, h("ul", { class: "list" }, items.map((one, at) => project(one, reviews[at].items.filter((review) => review.about === "stale").length, reload))));
}

function project(one, open, reload) {
  const namespace = placeOf(one.name);
  const go = (page) => () => { place.set(namespace); location.hash = address(page); location.reload(); };
  const refresh = acting(async () => {
    const done = await post("projects/refresh", { name: one.name });
    const counts = [["added", done.added.length], ["changed", done.changed.length], ["moved", Object.keys(done.moved).length], ["removed", done.removed.length], ["not read", Object.keys(done.failed).length]];
    notice(counts.filter(([, count]) => count).map(([name, count]) => `${count} ${name}`).join(", ") || "Nothing has changed.");
    await reload();
  });
  return h("li", null, h("h2", { dir: "auto" }, one.name), one.description && h("p", { class: "said", dir: "auto" }, one.description),
    h("div", { class: "meta" }, h("code", null, one.root), one.owner && h("span", null, `owner ${one.owner}`), one.patterns.length > 0 && h("span", null, one.patterns.join(", ")), h("span", null, "registered ", when(one.updated_at, true)),
      open > 0 && h("span", { class: "tag bad" }, `${counted(open, "document")} may be out of date`)),
    h("div", { class: "row acts" }, h("button", { type: "button", click: go("documents") }, "Documents"), h("button", { type: "button", click: go("core") }, "Core block"),
      open > 0 && h("button", { type: "button", click: go("reviews") }, "Reviews"), may.write() && may.seeAll() && h("button", { type: "button", click: refresh }, "Read it again")));
}
