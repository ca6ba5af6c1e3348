// Parts that several pages have: a memory in a list, differences, what a change did.

import { address, memoryAddress, post } from "./api.js";
import { empty, h, notice, placeOf, problem, when, words } from "./dom.js";
import { may } from "./rights.js";

/** Return where a part of a document stands: `guide.md#L10-L24`. */
export const citation = (value) => (value.place ? `${value.path}#${value.place}` : value.heading ? `${value.path} (${value.heading})` : value.path);

export const GOOD = new Set(["active", "approved"]);

/** Return when something was said or became true. */
export const said = (memory) => memory.valid_at ?? memory.value?.said_at ?? memory.value?.at ?? memory.created_at;

/** Return the words of a memory, as a link to it; the words of the question are marked. */
export function text(memory, marked = []) {
  const over = memory.status === "superseded" || memory.status === "archived";
  const shown = begins(memory.text.trim() || "(no text)", 400);
  return h("p", { class: over ? "said over" : "said", dir: "auto" }, h("a", { href: memoryAddress(memory) }, highlighted(shown, marked)));
}

/** Return how a text begins, cut between words. */
export function begins(whole, most) {
  if (whole.length <= most) return whole;
  const cut = whole.slice(0, most), end = cut.search(/\s\S*$/u);
  return `${cut.slice(0, end > most / 2 ? end : most).trimEnd()} …`;
}

function highlighted(shown, marked) {
  const wanted = marked.filter((one) => one.length > 1).map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!wanted.length) return [shown];
  const found = shown.split(new RegExp(`((?<![\\p{L}\\p{N}])(?:${wanted.join("|")})[\\p{L}\\p{N}]*)`, "giu"));
  return found.map((one, at) => (at % 2 ? h("span", { class: "found" }, one) : one));
}

/** Each kind in a word that needs no explanation. */
const KINDS = {
  episodic: "word for word", semantic: "fact", procedural: "how-to", archival: "summary", core: "always in the prompt",
  working: "scratch", resource: "document",
};

/** Return who said a memory, when, and where it stands. */
export function about(memory, { where = false } = {}) {
  return h("div", { class: "meta" },
    memory.speaker && h("span", null, memory.speaker), when(said(memory), true),
    h("span", { title: memory.kind }, KINDS[memory.kind] ?? memory.kind),
    memory.value?.document && h("a", { href: address("documents", { ns: memory.namespace, id: memory.value.document, chunk: memory.key }) }, citation(memory.value)),
    memory.status !== "active" && h("span", { class: `tag ${GOOD.has(memory.status) ? "" : "bad"}` }, memory.status),
    memory.pinned && h("span", { class: "tag good" }, "pinned"), memory.verified && h("span", { class: "tag good" }, "verified"),
    memory.privacy !== "shared" && h("span", { class: "tag" }, memory.privacy),
    where && h("span", null, placeOf(memory.namespace)));
}

const LONGEST = 400;

/** Return two texts as one, with what went struck out and what came marked; word by word. */
export function difference(before, after) {
  if (before.length + after.length > 20_000) return [h("del", null, begins(before, 2_000)), " ", h("ins", null, begins(after, 2_000))];
  const one = before.split(/(\s+)/), two = after.split(/(\s+)/);
  if (one.length > LONGEST || two.length > LONGEST) return [h("del", null, before), " ", h("ins", null, after)];
  const longest = Array.from({ length: one.length + 1 }, () => new Uint16Array(two.length + 1));
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = two.length - 1; j >= 0; j--) {
      longest[i][j] = one[i] === two[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const pieces = [];
  const add = (tag, piece) => {
    const last = pieces.at(-1);
    if (last?.tag === tag) last.text += piece;
    else pieces.push({ tag, text: piece });
  };
  let i = 0, j = 0;
  while (i < one.length || j < two.length) {
    if (i < one.length && j < two.length && one[i] === two[j]) { add("", one[i]); i++; j++; }
    else if (j >= two.length || (i < one.length && longest[i + 1][j] >= longest[i][j + 1])) add("del", one[i++]);
    else add("ins", two[j++]);
  }
  return pieces.map((piece) => (piece.tag ? h(piece.tag, null, piece.text) : piece.text));
}

const TEXTS = ["text", "content"];
const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));

/** Return what one entry of the history changed. */
export function changed(entry) {
  const before = entry.before ?? {}, after = entry.after ?? {};
  const lines = [];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const old = before[name], now = after[name];
    if (JSON.stringify(old) === JSON.stringify(now)) continue;
    const told = old === undefined ? [h("ins", null, begins(plain(now), 2_000))] : now === undefined ? [h("del", null, begins(plain(old), 2_000))] : difference(plain(old), plain(now));
    if (TEXTS.includes(name)) lines.unshift(h("p", { class: "said", dir: "auto" }, told));
    else if (entry.before && entry.after) lines.push(h("div", { class: "meta" }, h("span", null, words(name)), h("span", null, told)));
  }
  const stays = TEXTS.map((name) => after[name] ?? before[name]).find((one) => typeof one === "string");
  if (stays && !lines.some((one) => one.tagName === "P")) lines.unshift(h("p", { class: TAKES.has(entry.action) ? "said over" : "said", dir: "auto" }, begins(stays, 2_000)));
  const facets = Object.entries(entry.facets ?? {}).filter(([, old]) => old !== null);
  if (facets.length) {
    lines.push(h("div", { class: "meta" }, facets.map(([name, old]) => h("span", null, `${words(name)} was ${plain(old)}`))));
  }
  return lines;
}

const DONE = {
  add: "added", update: "changed", delete: "deleted", expire: "expired", supersede: "superseded",
  invalidate: "no longer true", archive: "archived", status: "status changed", merge: "merged",
  restore: "brought back", forget: "forgotten",
};
const TAKES = new Set(["delete", "expire", "supersede", "invalidate", "archive", "forget"]);

/** Return what was done, as a mark. */
export const action = (name) => h("span", { class: `tag ${TAKES.has(name) ? "bad" : name === "add" || name === "restore" ? "good" : ""}` }, DONE[name] ?? words(name));

/** Say that a change was made, and offer to take it back. */
export function changeMade(done, sentence, reload) {
  const nothing = !done.added.length && !done.changed.length && !done.removed.length;
  if (nothing) return notice(done.lines.join("; ") || "Nothing changed.");
  notice(sentence, may.undo() && (async () => {
    try {
      await post("undo", { run_id: done.run_id });
      notice("Taken back.");
    } catch (error) {
      notice(`Not taken back: ${error.message}`);
    }
    reload();
  }));
}

/** Run an action of a button: it cannot be pressed meanwhile, and a refusal stands below it. */
export function acting(work) {
  return async (event) => {
    event.preventDefault();
    const button = event.submitter ?? event.currentTarget;
    const owner = button.closest(".acts") ?? button.parentElement;
    owner.parentElement.querySelectorAll(":scope > .problem").forEach((one) => one.remove());
    button.disabled = true;
    button.dataset.acting = "";  // what happens meanwhile does not make the page anew
    try {
      await work(event);
    } catch (error) {
      if (error.status === undefined) console.error(error);
      owner.after(problem(error));
    } finally {
      button.disabled = false;
      delete button.dataset.acting;
    }
  };
}

/** Return what stands where a page is of one namespace, and none is chosen. */
export function whichNamespace(what) {
  const choice = document.getElementById("namespace").options.length > 1;
  return choice ? empty(`${what} is of one namespace. Choose it at the top.`)
    : empty("This memory is empty, so there is no namespace yet. Import something: ", h("code", null, "langmemory import FILE"), ", or let an application remember.");
}

/** Return a list that grows by pages; `fetch` gets a cursor, `item` makes a row. */
export async function paged(fetch, item, nothing) {
  const list = h("ol", { class: "list" }), row = h("div", { class: "row acts" }), whole = h("div", null, list, row);
  const more = async (cursor) => {
    const page = await fetch(cursor);
    list.append(...page.items.map(item));
    row.replaceChildren();
    if (cursor) whole.dataset.keep = "";  // made anew, the list would be short again
    if (page.next) row.append(h("button", { type: "button", click: acting(() => more(page.next)) }, "Show more"));
    return page.items.length;
  };
  return (await more()) ? whole : nothing;
}
