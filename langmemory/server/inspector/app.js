// The application: from the address after # to a page, the list of pages, the namespace and the token.

import { namespaces, place, token } from "./api.js";
import { dialog, h, placeOf, problem } from "./dom.js";
import * as graph from "./graph.js";
import * as health from "./health.js";
import * as jobs from "./jobs.js";
import * as memories from "./memories.js";
import * as memory from "./memory.js";
import * as reviews from "./reviews.js";
import * as runs from "./runs.js";
import * as search from "./search.js";
import * as timeline from "./timeline.js";

const PAGES = { search, memories, memory, timeline, graph, runs, run: runs.one, reviews, health, jobs };
const LISTED = ["search", "memories", "timeline", "graph", "runs", "reviews", "health", "jobs"];
const UNDER = { memory: "memories", run: "runs" };

const main = document.getElementById("main");
const chosen = document.getElementById("namespace");
let shown = 0;

/** Show the page that the address names. */
async function show({ focus = true } = {}) {
  const mine = ++shown;
  const [path, text] = location.hash.replace(/^#\/?/, "").split("?");
  const name = Object.hasOwn(PAGES, path) ? path : "search";
  const current = UNDER[name] ?? name;
  document.getElementById("nav").replaceChildren(...LISTED.map((one) =>
    h("a", { href: `#/${one}`, "aria-current": one === current && "page" }, one)));
  document.title = `${current} · langmemory`;
  document.onkeydown = null;
  const body = h("div");
  try {
    await PAGES[name].show(body, new URLSearchParams(text ?? ""), { reload: () => show({ focus: false }) });
  } catch (error) {
    if (error.status === undefined) console.error(error);
    body.replaceChildren(problem(error));
    if (error.status === 401) body.append(tokenForm(start));
  }
  if (mine !== shown) return;
  main.replaceChildren(body);
  const wanted = body.querySelector("[data-focus]");
  if (wanted) wanted.focus();
  else if (focus) { main.focus({ preventScroll: true }); scrollTo(0, 0); }
}

function tokenForm(done) {
  const input = h("input", { type: "password", autocomplete: "off", spellcheck: "false", placeholder: "lmt_…", "aria-label": "Token", value: token.get() });
  return h("form", { class: "row", submit: (event) => { event.preventDefault(); token.set(input.value.trim()); done(); } },
    h("span", { class: "wide" }, input), h("button", { class: "main", type: "submit" }, "Use it"));
}

document.getElementById("token").addEventListener("click", () => dialog("Token", (close) => [
  h("p", null, "On the machine that serves the file none is needed. Elsewhere, make one with ",
    h("code", null, "langmemory token create"), ". It is kept for this tab alone; leave the field empty to forget it."),
  tokenForm(() => { close(); start(); }),
  h("button", { type: "button", click: close }, "Cancel"),
]));

document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });

chosen.addEventListener("change", () => { place.set(JSON.parse(chosen.value)); show(); });

/** Read which namespaces there are, then show the page. */
async function start() {
  try {
    const found = await namespaces();
    const known = JSON.stringify(place.get());
    const all = found.length === 1 ? found : [[], ...found];
    if (!all.some((one) => JSON.stringify(one) === known)) place.set(all[0]);
    chosen.replaceChildren(...all.map((one) =>
      h("option", { value: JSON.stringify(one), selected: JSON.stringify(one) === JSON.stringify(place.get()) }, placeOf(one) || "all")));
  } catch {
    place.set(place.get() ?? []);  // the page says why
  }
  await show();
}

addEventListener("hashchange", () => show());
start();
