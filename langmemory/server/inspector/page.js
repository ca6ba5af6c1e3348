// MEMORY.md: what memory holds as one page; what a person changes on it becomes corrections.

import { address, get, post } from "./api.js";
import { counted, h, notice, problem, put } from "./dom.js";
import { acting } from "./parts.js";
import { may } from "./rights.js";

/** Return the page of a namespace with a field to edit it. */
export async function section(namespace, query, reload) {
  const shown = h("section", { class: "memory-page" }, h("h2", { id: "memory-page" }, "MEMORY.md"));
  if (!may.seeAll()) {
    put(shown, h("p", { class: "soft" }, "This page tells of everybody's memory. It needs a token that is not bound to one viewer."));
    return shown;
  }
  const owner = query.get("owner") ?? undefined;
  let page;
  try {
    page = await get("memory-page", { namespace, owner });
  } catch (error) {
    put(shown, problem(error));
    return shown;
  }
  const [head, body, tail] = apart(page.text);
  const input = h("textarea", { "aria-label": "MEMORY.md", dir: "auto", class: "mono page", rows: Math.min(30, 3 + body.split("\n").length), readonly: !may.decide(), spellcheck: "false" }, body);
  const answer = h("div", { "aria-live": "polite" });
  const whole = () => `${head}${input.value.trimEnd()}\n\n${tail}`;
  const look = acting(async () => {
    const planned = await post("memory-page", { namespace, text: whole(), dry_run: true });
    answer.replaceChildren(plan(planned, take));
  });
  const take = acting(async () => {
    const done = await post("memory-page", { namespace, text: whole() });
    const lines = done.applied.flatMap((one) => one.lines);
    input.value = input.defaultValue;
    await reload();
    notice(`${counted(lines.length, "change")} taken up.`, lines.length > 0 && (async () => {
      for (const one of done.applied.toReversed()) await post("undo", { run_id: one.run_id });
      reload();
    }));
  });
  put(shown, h("p", { class: "lead" }, "What memory holds, the most salient first. Change a line, delete one or write a new one (“- …”); the sign at its end says which memory it is. Where memory says something else by now, a ",
    h("a", { href: "#/reviews" }, "review"), " asks which holds."),
  page.owners.length > 0 && h("p", { class: "meta" }, h("a", { href: address("core"), "aria-current": owner === undefined && "page" }, "everybody's"),
    page.owners.map((one) => h("a", { href: address("core", { owner: one }), "aria-current": owner === one && "page" }, `private to ${one}`))),
  input, may.decide() && h("div", { class: "row acts" }, h("button", { type: "button", click: look }, "See what that would change")), answer);
  return shown;
}

/** Return the heading, what a person edits, and the last line, by which edits are found. */
function apart(text) {
  const [first, mark, ...rest] = text.split("\n");
  const at = rest.findLastIndex((line) => line.startsWith("<!-- written "));
  return [`${first}\n${mark}\n\n`, rest.slice(0, at).join("\n").trim(), rest.slice(at).join("\n")];
}

function plan(planned, take) {
  const lines = planned.applied.flatMap((one) => one.lines);
  return h("div", { class: "panel", "data-keep": true }, h("h3", null, lines.length ? "This would change" : "Nothing would change"), h("ul", { class: "steps" }, lines.map((line) => h("li", { dir: "auto" }, line))),
    lines.length > 0 && h("div", { class: "row acts" }, h("button", { type: "button", class: "main", click: take }, "Take it up")));
}
