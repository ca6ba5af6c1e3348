// Times: the slider of "as of" (what was true) and "known at" (what was believed), for the timeline and the graph.

import { h, when } from "./dom.js";

const STEPS = 200;

/** Return the moments that rows begin and end at, first and last, in milliseconds; never an empty span. */
export function span(rows, names) {
  const found = rows.flatMap((one) => names.map((name) => one[name])).filter(Boolean).map((text) => Date.parse(text));
  const now = Date.now();
  const first = Math.min(now, ...found), last = Math.max(now, ...found);
  return first < last ? [first, last] : [last - 86_400_000, last];
}

/** Return a labelled slider over a span; `moved` gets the moment, or null at its end, which stands for now. */
export function slider(name, [first, last], moved) {
  const told = h("output", { class: "number" }, "now");
  const input = h("input", { type: "range", min: 0, max: STEPS, value: STEPS, "aria-valuetext": "now", input: () => {
    const at = Number(input.value) === STEPS ? null : new Date(first + ((last - first) * Number(input.value)) / STEPS).toISOString();
    const shown = at ? when(at, last - first > 5 * 86_400_000) : "now";
    told.replaceChildren(shown);
    input.setAttribute("aria-valuetext", told.textContent);
    input.toggleAttribute("data-moved", at !== null);
    moved(at);
  } });
  return h("label", { class: "slider" }, h("span", null, name), input, told);
}

/** Return a function that runs after the last of several calls. */
export function settled(work, milliseconds = 120) {
  let timer;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => work(...given), milliseconds); };
}
