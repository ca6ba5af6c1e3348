// Charts: small columns over time, each with its number, also as text for those who do not see them.

import { h, svg } from "./dom.js";

const HIGH = 44, WIDE = 12, GAP = 4;

/** Return columns for counts; `names` says what each stands for, and `out` marks those that count no more. */
export function columns(title, counts, names, out = []) {
  const most = Math.max(1, ...counts), wide = Math.max(1, counts.length) * (WIDE + GAP) - GAP;
  return h("figure", { class: "chart" },
    h("figcaption", null, title, h("strong", { class: "number" }, counts.at(-1) ?? 0)),
    svg("svg", { viewBox: `0 0 ${wide} ${HIGH}`, width: wide, height: HIGH, role: "img", "aria-label": `${title}: ${counts.map((count, at) => `${names[at]} ${count}`).join(", ")}` },
      counts.map((count, at) => {
        const high = count ? Math.max(3, (count / most) * (HIGH - 2)) : 1;
        return svg("rect", { class: `column ${out[at] ? "out" : ""} ${count ? "" : "none"}`, x: at * (WIDE + GAP), y: HIGH - high, width: WIDE, height: high, rx: 1.5 }, svg("title", null, `${names[at]}: ${count}`));
      })));
}

/** Return a sparkline of what was added in each of the last weeks. */
export function growth(counts) {
  const names = counts.map((_, at) => (at === counts.length - 1 ? "this week" : `${counts.length - 1 - at} weeks ago`));
  return columns("Added by week", counts, names);
}
