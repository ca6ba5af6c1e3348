// The application: from the address after # to a page, the list of pages, the namespace, the token and the feed.

import { get, namespaces, place, token } from "./api.js";
import * as bus from "./bus.js";
import * as core from "./core.js";
import * as documents from "./documents.js";
import { dialog, h, placeOf, problem } from "./dom.js";
import * as graph from "./graph.js";
import * as health from "./health.js";
import * as jobs from "./jobs.js";
import { follow } from "./live.js";
import * as memories from "./memories.js";
import * as memory from "./memory.js";
import * as nights from "./nights.js";
import * as overview from "./overview.js";
import * as projects from "./projects.js";
import * as procedures from "./procedures.js";
import * as prompts from "./prompts.js";
import * as reviews from "./reviews.js";
import { learn, may, told } from "./rights.js";
import * as runs from "./runs.js";
import * as search from "./search.js";
import * as swarm from "./swarm.js";
import * as timeline from "./timeline.js";
import * as transfer from "./transfer.js";
import * as vault from "./vault.js";

const PAGES = { overview, search, prompts, memories, documents, projects, procedures, memory, timeline, graph, core, reviews, runs, run: runs.one, nights, swarm, bus, vault, health, jobs, "import/export": transfer };
const GROUPS = [
  ["Ask", ["overview", "search", "prompts", "memories", "documents", "projects", "procedures", "timeline", "graph"]],
  ["Change", ["core", "reviews", "runs", "nights"]],
  ["Care", ["swarm", "bus", "vault", "health", "jobs", "import/export"]],
];
const NEEDS = { projects: may.seeAll, runs: may.seeAll, nights: may.seeAll, health: may.seeAll, jobs: may.whole, "import/export": may.export, swarm: may.have("team"), bus: may.have("team") };
/** Where a page with nothing to show is asked for what it would show, and how. */
const ANY = {
  prompts: ["prompts", "namespace", "limit"], documents: ["documents", "namespace", "limit"], projects: ["projects"], procedures: ["procedures", "namespace"], nights: ["nights", "namespace", "limit"],
  swarm: ["swarm/tasks", "namespace"], bus: ["bus/messages", "namespace", "limit"], vault: ["vault", "namespace"], jobs: ["jobs", "limit"],
};
const UNDER = { memory: "memories", run: "runs" };

const main = document.getElementById("main");
const chosen = document.getElementById("namespace");
const live = document.getElementById("live");
const fresh = document.getElementById("fresh");
let shown = 0, current = { name: "overview", query: new URLSearchParams(), failed: false }, leave = null;

/** Show the page that the address names; `quiet` keeps the place and the focus of who is reading it, and `unasked`
    leaves the page as it is where somebody has begun to work on it meanwhile. */
async function show({ quiet = false, unasked = false } = {}) {
  const mine = ++shown;
  const [path, text] = location.hash.replace(/^#\/?/, "").split("?");
  const name = Object.hasOwn(PAGES, path) ? path : "overview", query = new URLSearchParams(text ?? "");
  listed(UNDER[name] ?? name);
  document.title = `${UNDER[name] ?? name} · langmemory`;
  if (!quiet) document.onkeydown = null;  // else the keys go on working meanwhile
  fresh.hidden = true;
  const body = h("div");
  const waiting = setTimeout(() => {  // what is there already is shown, such as the field for a question
    if (mine !== shown) return;
    main.setAttribute("aria-busy", "true");
    if (!quiet && body.childElementCount) main.replaceChildren(body, h("p", { class: "soft" }, "Loading …"));
    else if (!main.childElementCount) main.append(h("p", { class: "soft" }, "Loading …"));
  }, 250);
  let failed = false;
  try {
    await PAGES[name].show(body, query, { reload: () => show({ quiet: true }) });
  } catch (error) {
    failed = true;
    if (error.status === undefined) console.error(error);
    body.replaceChildren(problem(error));
    if (error.status === 401) body.append(tokenForm(start));
  }
  clearTimeout(waiting);
  if (mine !== shown) return;
  if (unasked && atWork()) {
    main.removeAttribute("aria-busy");
    fresh.hidden = false;
    return;
  }
  current = { name, query, failed };
  const again = quiet && main.contains(document.activeElement) && likeIt(document.activeElement);
  const at = scrollY;
  main.removeAttribute("aria-busy");
  if (body.isConnected) while (body.nextSibling) body.nextSibling.remove();
  else main.replaceChildren(body);
  const wanted = quiet ? again && [...main.querySelectorAll(again.tag)].find((one) => again.same(one)) : body.querySelector("[data-focus]");
  if (body.contains(document.activeElement)) return;  // somebody has begun to type
  if (wanted) wanted.focus({ preventScroll: quiet });
  else if (!quiet) { main.focus({ preventScroll: true }); scrollTo(0, 0); }
  if (quiet) scrollTo(0, at);
}

/** Return how to find an element again on a page that was made anew. */
function likeIt(one) {
  const href = one.getAttribute("href"), text = one.textContent;
  return { tag: one.tagName.toLowerCase(), same: (other) => other.getAttribute("href") === href && other.textContent === text };
}

let marked = "overview";
/** List the pages, with a mark at one: without a name at the one that has it, which may not be there yet. */
function listed(name = marked) {
  marked = name;
  const shown = (one) => NEEDS[one]?.() ?? true, used = (one) => !unused.has(one);
  const groups = [...GROUPS.map(([group, pages]) => [group, pages.filter((one) => shown(one) && used(one))]), ["Not used yet", [...unused].filter(shown)]].filter(([, pages]) => pages.length);
  document.getElementById("nav").replaceChildren(...groups.map(([group, pages]) => h("div", { class: "group", role: "group", "aria-label": group },
    h("span", { "aria-hidden": "true" }, group), pages.map((one) => h("a", { href: `#/${one}`, "aria-current": one === name && "page" }, one)))));
}

let unused = new Set();
/** Learn which pages have nothing to show: they stand at the end of the list. */
async function look() {
  const given = { namespace: place.get() ?? [], limit: 1 };
  const asked = given.namespace.length ? Object.entries(ANY) : Object.entries(ANY).filter(([name]) => name !== "swarm");  // a board is of one namespace
  const empty = asked.filter(([name]) => NEEDS[name]?.() ?? true).map(async ([name, [path, ...wanted]]) =>
    ((await get(path, Object.fromEntries(wanted.map((one) => [one, given[one]])))).items.length ? null : name));
  const before = [...unused].join();
  unused = new Set((await Promise.allSettled(empty)).map((one) => one.value).filter(Boolean));
  if ([...unused].join() !== before) listed();
}

function tokenForm(done) {
  const input = h("input", { type: "password", autocomplete: "off", spellcheck: "false", placeholder: "lmt_…", "aria-label": "Token", value: token.get() });
  return h("form", { class: "row", submit: (event) => { event.preventDefault(); token.set(input.value.trim()); done(); } },
    h("span", { class: "wide" }, input), h("button", { class: "main", type: "submit" }, "Use it"));
}

document.getElementById("token").addEventListener("click", () => dialog("Token", (close) => [
  h("p", null, told()),
  h("p", { class: "soft" }, "On the machine that serves the file none is needed. Elsewhere, make one with ",
    h("code", null, "langmemory token create"), ". It is kept for this tab alone; leave the field empty to forget it."),
  tokenForm(() => { close(); start(); }),
  h("button", { type: "button", click: close }, "Cancel"),
]));

document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
chosen.addEventListener("change", () => { place.set(JSON.parse(chosen.value)); show(); look(); });
fresh.addEventListener("click", () => show({ quiet: true }));

/** Say whether the page is live; once the server is back, show what could not be shown. */
function stateIs(state, reason) {
  const back = state === "live" && live.dataset.state === "away";
  live.dataset.state = state;
  live.title = reason ?? "This page shows changes as they happen.";
  live.replaceChildren({ live: "live", away: "server away", off: "not live" }[state]);
  if (back && current.failed) start({ again: true });
}

let due = null, known = new Set();
/** Show what happened, if the page is about it: at once where nobody is at work on it, else behind a button. */
function happened(event) {
  if (event.type === "memory" && event.action === "add" && !known.has(placeOf(event.namespace))) {
    known.add(placeOf(event.namespace));
    offer();
  }
  if (!PAGES[current.name].concerns?.(event, current.query)) return;
  const here = place.get() ?? [];
  if (event.namespace && !here.every((label, at) => event.namespace[at] === label)) return;
  due ??= setTimeout(() => {
    due = null;
    if (atWork()) fresh.hidden = false;
    else show({ quiet: true, unasked: true });
  }, 500);
}

/** Return whether making the page anew would take something from who works on it. */
function atWork() {
  const edited = [...main.querySelectorAll("input, textarea, select")].some((one) => one === document.activeElement || (one.defaultValue !== undefined && one.type !== "range" && one.type !== "checkbox" && one.value !== one.defaultValue));
  return edited || document.querySelector("dialog[open]") !== null || main.querySelector("[data-keep], [data-acting], input[type=range][data-moved]") !== null;
}

/** Offer the namespaces that there are. */
async function offer() {
  const found = await namespaces();
  known = new Set(found.map(placeOf));
  const all = found.length === 1 ? found : [[], ...found];
  const now = JSON.stringify(place.get());
  if (!all.some((one) => JSON.stringify(one) === now)) place.set(all[0]);
  chosen.replaceChildren(...all.map((one) =>
    h("option", { value: JSON.stringify(one), selected: JSON.stringify(one) === JSON.stringify(place.get()) }, placeOf(one) || "all")));
}

/** Read what the token allows and which namespaces there are, then show the page and follow the feed. */
async function start({ again = false } = {}) {
  try {
    await learn();
    await offer();
  } catch {
    place.set(place.get() ?? []);  // the page says why
  }
  await show();
  look();
  if (again) return;
  leave?.();
  leave = follow(happened, stateIs);
}

addEventListener("hashchange", () => show());
start();
