// Reviews: questions that reflection leaves to a person; each is decided with one key.

import { address, get, named, place, post } from "./api.js";
import { counted, empty, h, placeOf, put, when, words } from "./dom.js";
import { about, acting, changeMade, paged, text } from "./parts.js";
import { may } from "./rights.js";

export const concerns = (event) => event.type === "review";

export async function show(body, query, { reload }) {
  const all = query.get("all") === "yes";
  const where = place.get() ?? [];
  const list = await paged((cursor) => get("reviews", { namespace: where, open_only: !all, limit: 20, cursor }), (one) => card(one, reload),
    empty(h("p", null, all ? "Nothing was ever asked." : ["Nothing is to be decided. Reflection asks here what it is not sure of: contradictions, likely duplicates, what may no longer hold. ",
      h("a", { href: address("reviews", { all: "yes" }) }, "Show those that were decided"), "."])));
  put(body, h("h1", null, "Reviews"),
    h("p", { class: "lead" }, "What reflection is not sure of. ", h("kbd", null, "j"), h("kbd", null, "k"), "go from one to the next, a number decides; every decision can be undone."),
    h("p", null, h("a", { href: all ? address("reviews") : address("reviews", { all: "yes" }) }, all ? "Only open ones" : "Also decided ones")), list);
  keys(list);
}

/** Return one question with both sides, their evidence, and a button for each answer. */
function card(review, reload) {
  const [asked, ...lines] = /\n--- /.test(review.question) ? review.question.split("\n") : [review.question];
  const sides = lines.length ? changed(lines) : h("div", { class: "columns" }, review.memories.map((key) => side(review.namespace, key)));
  const decide = (option) => acting(async () => {
    const done = await post(named("reviews", review.id), { option });
    changeMade(done, `Decided: ${words(option)}.`, reload);
    await reload();
  });
  return h("li", { class: "panel review", tabindex: -1 },
    h("h2", { class: "question" }, asked), h("div", { class: "meta" }, h("span", null, words(review.about)), when(review.opened_at), h("span", null, placeOf(review.namespace)),
      may.seeAll() && h("a", { href: address("run", { id: review.run_id }) }, "the run that asked")),
    sides,
    review.decision
      ? h("p", null, "Decided: ", h("span", { class: "tag good" }, words(review.decision)))
      : !may.decide() ? h("p", { class: "soft" }, "Your token does not decide reviews: that needs the scope write, and no viewer.")
      : h("div", { class: "row acts" }, review.options.map((option, at) => h("button", { type: "button", "data-key": at + 1, click: decide(option) }, h("kbd", { "aria-hidden": "true" }, at + 1), words(option)))));
}

const MARKS = { "+": "ins", "-": "del" };

/** Return the lines of a unified diff: what is added and what is deleted stands out, also without colours. */
function changed(lines) {
  return h("pre", { class: "diff", dir: "auto" }, lines.map((line) => {
    const heads = /^(---|\+\+\+|@@)/.test(line);
    return h(heads ? "b" : MARKS[line[0]] ?? "span", null, `${line}\n`);
  }));
}

function side(namespace, key) {
  const shown = h("div", null, h("p", { class: "soft" }, "…"));
  Promise.all([get(named("memories", key), { namespace }), get("evidence", { namespace, key, limit: 5 })]).then(([one, evidence]) =>
    shown.replaceChildren(text(one), about(one), evidence.items.length ? h("details", { open: true }, h("summary", null, `from ${counted(evidence.items.length, "turn")}`),
      h("ul", { class: "list" }, evidence.items.map((turn) => h("li", null, text(turn), about(turn))))) : ""),
  (error) => shown.replaceChildren(h("p", { class: "soft" }, `${key}: ${error.message}`)));
  return shown;
}

/** Let keys choose a question and answer it. */
function keys(list) {
  const cards = () => [...list.querySelectorAll(".review")];
  let at = 0;
  const mark = (move) => {
    const found = cards();
    at = Math.max(0, Math.min(found.length - 1, at + move));
    found.forEach((one, place) => (place === at ? one.setAttribute("aria-current", "true") : one.removeAttribute("aria-current")));
    if (move && found[at]) { found[at].focus({ preventScroll: true }); found[at].scrollIntoView({ block: "center" }); }
  };
  mark(0);
  document.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return;
    if (event.key === "j") mark(1);
    else if (event.key === "k") mark(-1);
    else cards()[at]?.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  };
}
