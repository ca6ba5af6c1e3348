// Elements: everything on the pages is made here. Text of memories only ever becomes text nodes.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else if (name === "width%") node.style.setProperty("width", `${value}%`);
    else if (name in node && typeof value === "boolean") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(9).filter((one) => one !== null && one !== undefined && one !== false));
  return node;
}

/** Return an element: functions among the properties are listeners, strings among the children are text. */
export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** Put children into a node, without those that are not there. */
export const put = (node, ...children) => fill(node, null, children);

/** Return an SVG element. */
export function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/** Return a list of names and bars; each row is [name, share 0..1, what is written, whether it is the sum, what it means]. */
export function bars(rows) {
  return h("dl", { class: "bars" }, rows.map(([name, share, told, total, meaning]) => h("div", { title: meaning },
    h("dt", { class: total && "total" }, words(name)),
    h("dd", { class: "track", "aria-hidden": "true" },
      h("span", { class: "fill", "width%": Math.round(1000 * Math.min(1, Math.max(0, share))) / 10 })),
    h("dd", { class: total && "total" }, told ?? number(share)))));
}

/** Return names and what they are. */
export function facts(rows) {
  return h("dl", { class: "facts" }, rows.filter((one) => one && one[1] !== null && one[1] !== "" && one[1] !== undefined)
    .map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

export const words = (name) => String(name).replaceAll("_", " ");
export const number = (value, digits = 2) => Number(value).toFixed(digits);
export const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** Return a moment, in the zone in which it was told, else the reader's; only the day where that is enough. */
export function when(text, dayOnly = false) {
  if (!text) return "";
  const own = /[+-]\d\d:\d\d$/.test(text);  // said somewhere: the day and hour of that place
  const at = new Date(own ? text.slice(0, 19) : text);
  const day = at.toLocaleDateString(undefined, { year: "numeric", month: "short", day: "numeric" });
  const shown = dayOnly ? day : `${day}, ${at.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" })}`;
  return h("time", { datetime: text, title: text }, shown);
}

export const placeOf = (namespace) => namespace.join("/");

/** Return what stands where there is nothing, with the next step. */
export const empty = (...said) => h("div", { class: "empty" }, said);

const TITLES = { conflict: "Refused", "changed-meanwhile": "Changed meanwhile", scope: "Not allowed", viewer: "Not allowed", namespace: "Not allowed", ownership: "Not allowed", "not-found": "Not there", invalid: "Not as it is to be" };

/** Return a refusal, with the next step that it names. */
export function problem(error) {
  return h("div", { class: "panel problem", role: "alert" },
    h("strong", null, TITLES[error.kind] ?? error.title ?? "This failed"), h("p", null, runsIn(error.message)),
    (error.errors ?? []).slice(1).map((one) => h("p", { class: "soft" }, `${one.pointer}: ${one.detail}`)));
}

/** Return a text in which the runs that are named are links to them. */
export function runsIn(text) {
  return text.split(/((?<=\b(?:run|undo|then|by) )[a-z]+\/[^\s,;:]*[^\s,;:.])/i).map((part, at) => (at % 2 ? h("a", { href: `#/run?id=${encodeURIComponent(part)}` }, part) : part));
}

/** Show a sentence for some seconds, with what takes the change back. */
export function notice(said, undo) {
  const shown = document.getElementById("notice");
  const close = h("button", { type: "button", click: () => shown.replaceChildren() }, "Close");
  const back = undo && h("button", { type: "button", click: () => { shown.replaceChildren(); undo(); } }, "Undo");
  shown.replaceChildren(h("div", null, h("span", null, said), back, close));
  clearTimeout(notice.timer);
  notice.timer = setTimeout(() => shown.replaceChildren(), 12_000);
}

/** Open a dialog; `make` gets a function that closes it, and returns its contents. */
export function dialog(title, make) {
  const shown = h("dialog", { "aria-label": title, close: () => shown.remove() });
  shown.append(h("h2", null, title), ...[make(() => shown.close())].flat());
  document.body.append(shown);
  shown.showModal();
  return shown;
}
