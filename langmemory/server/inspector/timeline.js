// Timeline: from when until when each fact was true, and which of them held, or were believed, at a moment.

import { get, memoryAddress, place } from "./api.js";
import { counted, empty, h, put, when } from "./dom.js";
import { acting, begins } from "./parts.js";
import { settled, slider, span } from "./times.js";

const PAGE = 200;

export const concerns = (event) => event.type === "memory" && event.kind !== "episodic";

export async function show(body) {
  const fetch = (cursor) => get("memories", { namespace: place.get() ?? [], kinds: ["semantic", "procedural"], statuses: ["active", "superseded", "approved"], limit: PAGE, cursor });
  const found = await fetch();
  put(body, h("h1", null, "Timeline"));
  if (!found.items.length) {
    put(body, empty("No facts yet. Reflection makes them of what was said: ", h("code", null, "langmemory reflect"), "."));
    return;
  }
  const shown = h("div"), row = h("div", { class: "row acts" });
  const more = (rest, next) => {
    row.replaceChildren();
    if (!next) return;
    row.append(h("button", { type: "button", click: acting(async () => {
      const page = await fetch(next), all = [...rest, ...page.items];
      shown.replaceChildren(...drawn(all, Boolean(page.next)));
      shown.dataset.keep = "";
      more(all, page.next);
    }) }, "Show earlier ones"));
  };
  shown.append(...drawn(found.items, Boolean(found.next)));
  more(found.items, found.next);
  put(body, h("p", { class: "lead" }, "From when until when each fact was true. Move a slider to see what held at a moment, and what was believed at one."), shown, row);
}

const from = (one) => (one.valid_at ? Date.parse(one.valid_at) : -Infinity);  // nobody said since when

/** Return the sliders, and a row with a bar for each fact. */
function drawn(facts, isPart) {
  const rows = facts.toSorted((one, other) => from(one) - from(other) || 0);
  const world = most(rows), belief = span(rows, ["created_at", "expired_at"]);
  const at = { as: null, known: null };
  const count = h("p", { class: "soft", role: "status" });
  const list = h("ol", { class: "spans" }, rows.map((one) => bar(one, world)));
  const word = h("input", { type: "search", "aria-label": "Only facts with these words", placeholder: "Only facts with these words", autocomplete: "off" });
  const mark = () => {
    const now = at.as ? Date.parse(at.as) : Date.now(), known = at.known ? Date.parse(at.known) : Infinity;
    const wanted = word.value.trim().toLowerCase();
    let held = 0, seen = 0;
    rows.forEach((one, place) => {
      const believed = Date.parse(one.created_at) <= known;
      const ended = one.invalid_at && !(one.expired_at && Date.parse(one.expired_at) > known);
      const holds = believed && from(one) <= now && !(ended && Date.parse(one.invalid_at) <= now);
      const item = list.children[place], meant = one.text.toLowerCase().includes(wanted);
      item.hidden = !meant;
      seen += meant;
      held += holds && meant;
      item.classList.toggle("out", !holds);
      item.classList.toggle("unknown", !believed);
    });
    count.replaceChildren(`${counted(held, "fact holds", "facts hold")} at this moment, of ${seen}.`, isPart && !wanted ? " There are earlier ones." : "");
  };
  word.addEventListener("input", settled(mark));
  mark();
  return [h("div", { class: "panel" }, slider("As of", world, (moment) => { at.as = moment; mark(); }), slider("Known at", belief, (moment) => { at.known = moment; mark(); }), count),
    rows.length > 20 && h("div", { class: "row" }, h("span", { class: "wide" }, word)), axis(world), list].filter(Boolean);
}

/** Return the days at which the lanes begin and end, and that of their middle. */
function axis(world) {
  const days = [world[0], (world[0] + world[1]) / 2, world[1]].map((moment) => when(new Date(moment).toISOString(), true));
  return h("div", { class: "spans axis", "aria-hidden": "true" }, h("div", null, days));
}

function bar(one, world) {
  const x = (moment) => (100 * (moment - world[0])) / (world[1] - world[0]);
  const begin = Math.max(0, x(from(one))), end = one.invalid_at ? x(Date.parse(one.invalid_at)) : 100;
  const drawn = h("span", { class: one.invalid_at ? "span ended" : "span", "width%": Math.max(0.6, end - begin) });
  drawn.style.setProperty("margin-left", `${Math.min(99, begin)}%`);
  return h("li", null, h("a", { href: memoryAddress(one), dir: "auto" }, begins(one.text, 200)), h("div", { class: "lane", "aria-hidden": "true" }, drawn),
    h("span", { class: "meta" }, one.valid_at ? when(one.valid_at, true) : h("span", null, "since when is not known"), one.invalid_at && h("span", null, "until ", when(one.invalid_at, true))));
}

/** Return the span that is drawn: where a tenth of the facts began long before the others, it starts with these. */
function most(rows) {
  const whole = span(rows, ["valid_at", "invalid_at"]);
  const begun = rows.filter((one) => one.valid_at).map((one) => Date.parse(one.valid_at)).sort((one, other) => one - other);
  const later = begun[Math.ceil(begun.length / 10)];
  return later - whole[0] > (whole[1] - whole[0]) / 2 ? [later, whole[1]] : whole;
}
