// The API: every request of the pages. The token is kept for this tab alone, and is never in an address.

const BASE = new URL("../api/v1/memory/", document.baseURI);
const TOKEN = "langmemory.token";
const PLACE = "langmemory.namespace";

/** A refusal of the API (RFC 9457): its detail names the next step. */
export class Refusal extends Error {
  constructor(status, told) {
    super(told.detail ?? "The server gave no reason.");
    this.status = status;
    this.title = told.title;
    this.kind = (told.type ?? "").replace("urn:langmemory:problem:", "");
    this.errors = told.errors;
  }
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN) ?? "",
  set: (text) => (text ? sessionStorage.setItem(TOKEN, text) : sessionStorage.removeItem(TOKEN)),
};

/** The namespace that the pages are about: a list of labels; empty is all that may be read. */
export const place = {
  get: () => JSON.parse(sessionStorage.getItem(PLACE) ?? "null"),
  set: (labels) => sessionStorage.setItem(PLACE, JSON.stringify(labels)),
};

async function send(method, path, { query, body } = {}) {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query ?? {})) {
    const alone = name === "namespace" && Array.isArray(value) && value.length === 1;
    const values = alone ? [value[0].replace(/[%/]/g, encodeURIComponent)] : value;  // one label, not a path
    for (const one of Array.isArray(values) ? values : [values]) {
      if (one !== undefined && one !== null && one !== "") url.searchParams.append(name, one);
    }
  }
  const headers = {};
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  } catch {
    throw new Refusal(0, { title: "No answer", detail: "The server does not answer. Start it with `langmemory serve`, then reload this page." });
  }
  const told = response.status === 204 ? null : await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(response.status, told);
  return told;
}

export const get = (path, query) => send("GET", path, { query });
export const post = (path, body) => send("POST", path, { body });

/** Return the path of one memory, run or review: its key may hold any character. */
export const named = (path, key) => `${path}/${encodeURIComponent(key)}`;

/** Return every namespace that holds memories and may be read. */
export async function namespaces() {
  const found = await post("store/batch", { ops: [{ op: "list_namespaces", limit: 500 }] });
  return found.results[0];
}

/** Return an address of these pages. */
export function address(page, values = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "" && one !== false) query.append(name, one);
    }
  }
  return `#/${page}${query.size ? `?${query}` : ""}`;
}

export const memoryAddress = (one) => address("memory", { ns: one.namespace, key: one.key });
