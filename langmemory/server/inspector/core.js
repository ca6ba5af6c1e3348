// Core: the texts that are always in a prompt, each with its versions, and MEMORY.md.

import { address, get, patch, place, tagged } from "./api.js";
import { h, notice, placeOf, problem, put, when } from "./dom.js";
import * as page from "./page.js";
import { acting, difference, whichNamespace } from "./parts.js";
import { may } from "./rights.js";

/** Return what is above the blocks' owner, and the owner's id, as the API names them. */
function ownerOf(namespace) {
  const labels = namespace.at(-1) === "core" ? namespace.slice(0, -1) : namespace;
  const id = labels.at(-1).replace(/~(2E|7E)/g, (_, code) => String.fromCharCode(parseInt(code, 16)));
  return { labels, path: `core/${encodeURIComponent(id)}`, query: `?namespace=${labels.slice(0, -1).map(encodeURIComponent).join("&namespace=")}` };
}

export const concerns = (event) => event.type === "memory" && (event.kind === "core" || event.kind === "semantic" || event.kind === "procedural");

export async function show(body, query, { reload }) {
  const namespace = place.get() ?? [];
  put(body, h("h1", null, "Core and MEMORY.md"));
  if (!namespace.length) {
    put(body, whichNamespace("Core memory"));
    return;
  }
  const owner = ownerOf(namespace);
  const [view, tag] = await tagged(owner.path + owner.query);
  put(body, h("p", { class: "lead" }, "These texts stand in every prompt, whatever is asked. An application, the assistant or a person writes them; every version is kept."),
    view.blocks.map((block) => editor(block, owner, tag, reload)), may.write() && another(owner, reload));
  put(body, await page.section(owner.labels, query, reload));
}

/** Return one block: what it says, who wrote it when, and a field to write it. */
function editor(block, owner, tag, reload) {
  const name = `block-${block.label}`;
  const input = h("textarea", { id: name, dir: "auto", rows: Math.min(12, 2 + block.content.split("\n").length), readonly: !may.write() }, block.content);
  const room = h("span", { class: "number" }), save = h("button", { class: "main", type: "submit", disabled: true }, "Save");
  const measure = () => {
    room.replaceChildren(`${[...input.value].length} of ${block.limit} characters`);
    room.classList.toggle("over-limit", [...input.value].length > block.limit);
    save.disabled = input.value === block.content;
  };
  input.addEventListener("input", measure);
  measure();
  const trouble = h("div", { "aria-live": "polite" });
  const submit = acting(async () => {
    trouble.replaceChildren();
    const done = await written(owner, block, input.value, tag);
    if (done.conflict) trouble.replaceChildren(conflict(owner, block, input, done, reload));
    else {
      notice(`Saved: ${block.label}, version ${done.version}.`, () => patch(owner.path + owner.query, { body: { by: "person", blocks: { [block.label]: block.content } } }).then(reload));
      shown.replaceWith(editor(done, owner, tag, reload));  // what is being written in others stays
    }
  });
  const shown = h("section", { class: "block-of" }, h("form", { submit },
    h("h2", null, h("label", { for: name }, block.label)),
    block.purpose && h("p", { class: "soft" }, block.purpose), block.file && boundTo(block),
    input, h("div", { class: "row acts" }, may.write() && save, h("span", { class: "meta" }, room, block.version > 0 && h("span", null, `version ${block.version}`)))),
  trouble, block.version > 0 && versions(owner, block.label, reload));
  return shown;
}

const STATES = { agrees: "both say the same", waits: "one of them is newer", asked: "they differ: a review asks", problem: "they cannot be brought together" };

/** Return to which file a block is bound, and whether both say the same. */
function boundTo(block) {
  return h("p", { class: "meta" }, h("span", { class: "tag" }, "file"), h("code", null, block.file),
    h("span", { class: block.file_state === "agrees" ? "" : "over-limit" }, STATES[block.file_state] ?? block.file_state),
    block.file_state === "asked" && h("a", { href: address("reviews") }, "decide it"), block.file_problem && h("span", null, block.file_problem));
}

/** Write one block if nobody else did since it was read; else return what it says by now. */
async function written(owner, block, content, tag) {
  const send = (match) => patch(owner.path + owner.query, { body: { by: "person", blocks: { [block.label]: content } }, match });
  const of = (view) => view.blocks.find((one) => one.label === block.label);
  try {
    return of(await send(tag));
  } catch (error) {
    if (error.kind !== "changed-meanwhile") throw error;
    const [view, now] = await tagged(owner.path + owner.query);
    const theirs = of(view) ?? { content: "", version: 0 };
    return theirs.version === block.version ? of(await send(now)) : { conflict: true, theirs, now };  // only another block changed
  }
}

/** Return both texts of a conflict, and what a person may do about it. */
function conflict(owner, block, input, { theirs, now }, reload) {
  const mine = acting(async () => {
    const done = await written(owner, theirs, input.value, now);
    if (done.conflict) throw Object.assign(new Error("It was changed once more. Take what it says now, and write again."), { status: 412, title: "Changed meanwhile" });
    notice(`Saved: ${block.label}, version ${done.version}.`);
    input.closest("section").replaceWith(editor(done, owner, now, reload));
  });
  return h("div", { class: "panel problem", "data-keep": true }, h("strong", null, "Somebody changed it meanwhile"),
    h("p", null, "Nothing was written. This is what it says now, beside what you wrote; marked is what differs from what you had before you."),
    h("div", { class: "columns" },
      h("div", null, h("h3", null, `Now (version ${theirs.version})`), h("p", { class: "said", dir: "auto" }, difference(block.content, theirs.content))),
      h("div", null, h("h3", null, "Yours"), h("p", { class: "said", dir: "auto" }, difference(block.content, input.value)))),
    h("div", { class: "row acts" }, h("button", { type: "button", click: mine }, "Write mine over it"),
      h("button", { type: "button", click: () => input.closest("section").replaceWith(editor(theirs, owner, now, reload)) }, "Take what it says now")));
}

const EDITORS = { application: "by an application", assistant: "by the assistant", person: "by a person", summarizer: "made shorter by a model" };

/** Return every version of a block, the newest first, as differences; read when it is opened. */
function versions(owner, label, reload) {
  const list = h("ol", { class: "list history" });
  const again = (content) => acting(async () => {
    await patch(owner.path + owner.query, { body: { by: "person", blocks: { [label]: content } } });
    notice(`Written again: ${label}.`);
    await reload();
  });
  const open = async (event) => {
    if (!event.target.open || list.childElementCount) return;
    try {
      const found = await get("history", { namespace: [...owner.labels, "core"], key: label, limit: 200 });
      const said = (value) => value?.content ?? "";
      list.append(...found.items.toReversed().map((entry, at) => h("li", null,
        h("div", null, h("span", { class: "tag" }, entry.after ? `version ${entry.after.version ?? "?"}` : "deleted"), h("div", { class: "meta" }, when(entry.at))),
        h("div", null, h("p", { class: "said", dir: "auto" }, difference(said(entry.before), said(entry.after))),
          h("div", { class: "meta" }, entry.after?.editor && h("span", null, EDITORS[entry.after.editor] ?? entry.after.editor), entry.reason && h("span", null, `reason: ${entry.reason}`)),
          at > 0 && entry.after && may.write() && h("div", { class: "row acts" }, h("button", { type: "button", click: again(said(entry.after)) }, "Write this again"))))));
      if (!found.items.length) list.append(h("li", { class: "soft" }, "Nothing is recorded."));
    } catch (error) {
      list.replaceChildren(h("li", null, problem(error)));
    }
  };
  return h("details", { toggle: open }, h("summary", null, "Versions"), list);
}

/** Return a form that begins another block. */
function another(owner, reload) {
  const label = h("input", { "aria-label": "Name of the block", placeholder: "Name, such as style", pattern: "[\\w\\-]+", required: true, autocomplete: "off" });
  const content = h("textarea", { "aria-label": "What it is to say", dir: "auto" });
  const submit = acting(async () => {
    await patch(owner.path + owner.query, { body: { by: "person", blocks: { [label.value.trim()]: content.value } } });
    await reload();
  });
  return h("details", null, h("summary", null, "Another block"), h("form", { submit }, h("div", { class: "row" }, label), content,
    h("div", { class: "row acts" }, h("button", { type: "submit" }, "Add it"), h("span", { class: "meta" }, `in ${placeOf(owner.labels)}`))));
}
