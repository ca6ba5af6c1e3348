// Graph: people and things, and what connects them, at any moment. The layout is calculated here.

import { address, get, memoryAddress, place } from "./api.js";
import { empty, h, put, svg, when, words } from "./dom.js";
import { whichNamespace } from "./parts.js";
import { settled, slider, span } from "./times.js";

const MOST = 200, ROUNDS = 300;
const size = () => (innerWidth < 640 ? { wide: 400, high: 480, edge: 56 } : { wide: 960, high: 600, edge: 90 });

export const concerns = (event) => event.type === "memory" && event.kind !== "episodic";

export async function show(body, query) {
  const namespace = place.get() ?? [];
  const area = size();
  put(body, h("h1", null, "Graph"));
  if (!namespace.length) {
    put(body, whichNamespace("A graph"));
    return;
  }
  const entity = query.get("entity") ?? undefined;
  const whole = await get("graph/subgraph", { namespace, past: true, name: entity, depth: 2 });
  if (!whole.entities.length) {
    put(body, empty("Nobody and nothing is known yet. Reflection finds people and things in what was said: ", h("code", null, "langmemory reflect"), "."));
    return;
  }
  const degree = new Map();
  for (const one of whole.edges) for (const end of [one.subject, one.object]) if (end) degree.set(end, (degree.get(end) ?? 0) + 1);
  const nodes = whole.entities.toSorted((one, other) => (degree.get(other.key) ?? 0) - (degree.get(one.key) ?? 0)).slice(0, MOST);
  const at = layout(nodes, whole.edges, area);
  const names = new Map(whole.entities.map((one) => [one.key, one.name]));
  const picture = h("div", { class: "picture" }), list = h("ul", { class: "list dense" });
  const times = { as_of: null, known_at: null };
  let asked = 0;
  const draw = async () => {
    const mine = ++asked;
    const now = await get("graph/subgraph", { namespace, name: entity, depth: 2, ...times });
    if (mine !== asked) return;
    const there = new Set(now.entities.map((one) => one.key));
    picture.replaceChildren(drawn(nodes, now.edges, at, there, area));
    list.replaceChildren(...now.edges.map((one) => h("li", null, h("p", { class: "said" }, h("a", { href: memoryAddress({ namespace: one.namespace, key: one.fact }) },
      `${names.get(one.subject) ?? one.subject} ${words(one.relation)} ${one.object ? names.get(one.object) ?? one.object : one.literal ?? ""}`)),
    h("div", { class: "meta" }, one.valid_at && ["since ", when(one.valid_at, true)], one.invalid_at && ["until ", when(one.invalid_at, true)]))));
    if (!now.edges.length) list.replaceChildren(h("li", { class: "soft" }, "Nothing was connected at this moment. Move the slider."));
  };
  const later = settled(() => draw().catch((error) => list.replaceChildren(h("li", null, error.message))));
  put(body, h("p", { class: "lead" }, "What connects people and things. Choose one to see what is around it.",
    entity && [" ", h("a", { href: "#/graph" }, "Show all"), "."], nodes.length < whole.entities.length && ` The ${MOST} with most connections of ${whole.entities.length} are drawn.`),
  h("div", { class: "panel" }, slider("As of", span(whole.edges, ["valid_at", "invalid_at"]), (moment) => { times.as_of = moment; later(); }),
    slider("Known at", span(whole.edges, ["created_at", "expired_at"]), (moment) => { times.known_at = moment; later(); })),
  picture, h("h2", null, "Connections"), list);
  await draw();
}

function drawn(nodes, edges, at, there, { wide, high }) {
  const lines = new Map();
  for (const one of edges) {
    if (!one.object || !at.has(one.subject) || !at.has(one.object)) continue;
    const name = `${one.subject}\n${one.object}`;
    lines.set(name, { ...one, relations: [...(lines.get(name)?.relations ?? []), words(one.relation)] });
  }
  return svg("svg", { viewBox: `0 0 ${wide} ${high}`, role: "group", "aria-label": "People and things, and lines between them; the list below says the same" },
    [...lines.values()].map((one) => {
      const [x1, y1] = at.get(one.subject), [x2, y2] = at.get(one.object);
      return [svg("line", { class: "edge", x1, y1, x2, y2 }), svg("text", { x: (x1 + x2) / 2, y: (y1 + y2) / 2 + 4, "text-anchor": "middle" }, one.relations.join(", "))];
    }),
    nodes.map((one) => {
      const [x, y] = at.get(one.key);
      const node = svg("a", { href: address("graph", { entity: one.key }), class: there.has(one.key) ? null : "faint" },
        svg("circle", { class: "node", cx: x, cy: y, r: 7 }), svg("text", { class: "name-of", x, y: y - 12, "text-anchor": "middle" }, one.name), svg("title", null, `${one.name}, ${one.kind}`));
      return node;
    }));
}

/** Return where each node stands: the most that are connected above, what is not connected with them below. */
function layout(nodes, edges, { wide, high, edge }) {
  const of = new Map(nodes.map((one) => [one.key, one.key]));
  const root = (key) => { while (of.get(key) !== key) key = of.get(key); return key; };
  for (const one of edges) if (of.has(one.subject) && of.has(one.object)) of.set(root(one.subject), root(one.object));
  const groups = Object.values(Object.groupBy(nodes, (one) => root(one.key))).sort((one, other) => other.length - one.length);
  const bands = [groups[0] ?? [], groups.slice(1).flat()].filter((one) => one.length), least = Math.min(120, high / 2);
  const at = new Map();
  let top = 0;
  for (const band of bands) {
    const tall = bands.length === 1 ? high : least + ((high - 2 * least) * band.length) / nodes.length;
    for (const [key, [x, y]] of springs(band, edges, { wide, high: tall, edge })) at.set(key, [x, Math.round(y + top)]);
    top += tall;
  }
  return at;
}

/** Return where nodes stand that push each other away, and that edges pull (Fruchterman and Reingold 1991). */
function springs(nodes, edges, { wide, high, edge }) {
  const index = new Map(nodes.map((one, n) => [one.key, n]));
  const joined = edges.filter((one) => index.has(one.subject) && index.has(one.object) && one.subject !== one.object).map((one) => [index.get(one.subject), index.get(one.object)].sort((one, other) => one - other));
  const pairs = [...new Map(joined.map((pair) => [pair.join(), pair])).values()];  // two relations pull no more than one
  const x = nodes.map((_, n) => Math.cos(2.4 * n) * Math.sqrt(n)), y = nodes.map((_, n) => Math.sin(2.4 * n) * Math.sqrt(n));
  for (let round = 0; round < ROUNDS; round++) {
    const dx = new Float64Array(nodes.length), dy = new Float64Array(nodes.length), most = 0.6 * (1 - round / ROUNDS);
    for (let one = 0; one < nodes.length; one++) {
      for (let other = one + 1; other < nodes.length; other++) {
        const ox = x[one] - x[other], oy = y[one] - y[other], push = 1 / (ox * ox + oy * oy + 0.01);
        dx[one] += ox * push; dy[one] += oy * push; dx[other] -= ox * push; dy[other] -= oy * push;
      }
      dx[one] -= 0.05 * x[one]; dy[one] -= 0.05 * y[one];
    }
    for (const [one, other] of pairs) {
      const ox = x[one] - x[other], oy = y[one] - y[other], pull = 0.35 * Math.hypot(ox, oy);
      dx[one] -= ox * pull; dy[one] -= oy * pull; dx[other] += ox * pull; dy[other] += oy * pull;
    }
    for (let n = 0; n < nodes.length; n++) {
      const long = Math.hypot(dx[n], dy[n]) || 1, step = Math.min(long, most);
      x[n] += (dx[n] / long) * step; y[n] += (dy[n] / long) * step;
    }
  }
  const few = Math.max(0, 6 - nodes.length) / 14;  // two that know each other do not stand in far corners
  const fit = (values, long, edge) => {
    const first = Math.min(...values), last = Math.max(...values);
    return values.map((one) => (last - first < 1e-6 ? long / 2 : Math.round(edge + few * long + ((one - first) / (last - first)) * (long - 2 * (edge + few * long)))));
  };
  const across = fit(x, wide, edge), down = fit(y, high, 40);
  return new Map(nodes.map((one, n) => [one.key, [across[n], down[n]]]));
}
