// Documents: what was read from files and texts, one document with its parts, and what could not be read.

import { address, get, place, post } from "./api.js";
import { counted, empty, facts, h, notice, placeOf, put, when } from "./dom.js";
import { acting, citation, paged } from "./parts.js";
import { may } from "./rights.js";

export const concerns = (event) => event.type === "memory" && event.kind === "resource";

const size = (bytes) => (bytes < 1_000 ? `${bytes} B` : bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`);
const addressOf = (ns, id, chunk) => address("documents", { ns, id, chunk });
const where = () => (place.get()?.length ? place.get() : ["documents"]);

export async function show(body, query, { reload }) {
  if (query.get("id")) await one(body, query.getAll("ns"), query.get("id"), query.get("chunk"));
  else await all(body, query, reload);
}

async function all(body, query, reload) {
  const asked = query.get("q") ?? "", prefix = query.get("prefix") ?? "", namespace = where();
  const question = h("input", { type: "search", name: "q", value: asked, "aria-label": "Question", placeholder: "A question, or what it says", "data-focus": true, autocomplete: "off" });
  const begins = h("input", { type: "search", name: "prefix", value: prefix, placeholder: "docs/", autocomplete: "off" });
  question.style.setProperty("width", "100%");
  const go = (event) => {
    event.preventDefault();
    location.hash = address("documents", { q: question.value.trim(), prefix: begins.value.trim() });
  };
  put(body, h("h1", null, "Documents"), h("p", { class: "lead" }, `Files and texts in the namespace ${placeOf(namespace)}, which are found beside what was said. A part is cited by its path and lines.`),
    h("form", { role: "search", submit: go }, h("div", { class: "row ask" }, h("span", { class: "wide" }, question), h("label", null, "Path begins with ", begins), h("button", { class: "main", type: "submit" }, "Search"))));
  if (asked) {
    put(body, await found(asked, namespace, prefix));
    return;
  }
  const [list, sources] = await Promise.all([
    paged((cursor) => get("documents", { namespace, prefix, limit: 50, cursor }), row,
      empty(prefix ? "No document has a path that begins so." : ["There is no document here. Add some: ", h("code", null, "langmemory documents add FOLDER"), "."])),
    get("documents/sources", { namespace }),
  ]);
  put(body, folders(sources.items, namespace, reload), h("section", null, h("h2", null, "What was read"), list));
}

const row = (document) => h("li", null,
  h("p", { class: "said", dir: "auto" }, h("a", { href: addressOf(document.namespace, document.id) }, document.path)),
  h("div", { class: "meta" }, document.title && h("span", null, document.title), h("span", null, counted(document.chunks, "part")), h("span", null, size(document.bytes)), h("span", null, "read ", when(document.read_at))));

/** Return the folders that are read again, and what of them could not be read. */
function folders(sources, namespace, reload) {
  if (!sources.length) return null;
  const refresh = acting(async () => {
    const done = await post("documents/refresh", { namespace });
    const counts = [["added", done.added.length], ["changed", done.changed.length], ["moved", Object.keys(done.moved).length], ["removed", done.removed.length], ["not read", Object.keys(done.failed).length]];
    notice(counts.filter(([, count]) => count).map(([name, count]) => `${count} ${name}`).join(", ") || "Nothing has changed.");
    await reload();
  });
  return h("section", null, h("h2", null, "Folders"), h("ul", { class: "list" }, sources.map((source) => {
    const failed = Object.entries(source.failed);
    return h("li", null, h("p", { class: "said" }, h("code", null, source.pattern ? `${source.root}/${source.pattern}` : source.root)),
      source.ignore.length > 0 && h("div", { class: "meta" }, h("span", null, `without ${source.ignore.join(", ")}`)),
      failed.length > 0 && h("details", { open: failed.length < 6 }, h("summary", null, h("span", { class: "tag bad" }, `${counted(failed.length, "file")} not read`)),
        h("ul", { class: "steps" }, failed.map(([path, why]) => h("li", { dir: "auto" }, why.startsWith(path) ? why : [h("code", null, path), `: ${why}`])))));
  })), may.whole() && h("div", { class: "row acts" }, h("button", { type: "button", click: refresh }, "Read them again")));
}

/** Return the parts that answer a question. */
async function found(asked, namespace, prefix) {
  const { results } = await post("recall", { query: asked, namespace, kinds: ["resource"], limit: 10, explain: true, counted: false });
  const fitting = results.filter((one) => one.memory.value?.path?.startsWith(prefix));
  if (!fitting.length) return empty("No part of a document was found. Ask in other words.");
  return h("section", null, h("h2", null, "What was found"), h("ol", { class: "list results" }, fitting.map(({ memory, score }, at) => {
    const id = memory.key.split("/")[1];
    return h("li", { class: "result" }, h("div", { class: "place-of" }, at + 1), h("div", null,
      h("p", { class: "said" }, h("a", { href: addressOf(namespace, id, memory.key) }, citation(memory.value))),
      memory.value.heading && h("div", { class: "meta" }, h("span", { dir: "auto" }, memory.value.heading), h("span", null, `score ${score.toFixed(2)}`)),
      h("pre", { class: "chunk", dir: "auto", tabindex: 0 }, memory.text)));
  })));
}

/** Show one document: what was read, and its parts in order. */
async function one(body, namespace, id, chosen) {
  const document = await get(`documents/${encodeURIComponent(id)}`, { namespace });
  put(body, h("p", { class: "meta" }, h("a", { href: "#/documents" }, "All documents")), h("h1", { dir: "auto" }, document.path),
    facts([["title", document.title], ["folder", document.root], ["read", when(document.read_at)], ["size", size(document.bytes)], ["SHA-256", h("code", null, document.sha256.slice(0, 16))], ["parts", document.chunks]]));
  const limit = chosen ? 200 : 50;
  put(body, await paged((cursor) => get(`documents/${encodeURIComponent(id)}/chunks`, { namespace, limit, cursor }), (chunk) => h("li", { class: "part", "aria-current": chunk.key === chosen && "true" },
    h("div", { class: "meta" }, chunk.place && h("a", { href: addressOf(namespace, id, chunk.key) }, `#${chunk.place}`), chunk.heading && h("span", { dir: "auto" }, chunk.heading),
      h("a", { href: address("memory", { ns: namespace, key: chunk.key }) }, "its history")),
    h("pre", { class: "chunk", dir: "auto", tabindex: 0 }, chunk.text)), empty("It has no text.")));
  const marked = body.querySelector("[aria-current=true]");
  if (marked) requestAnimationFrame(() => marked.scrollIntoView({ block: "center" }));
}
