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

/** Return the headers that let somebody in. */
export const letIn = () => (token.get() ? { Authorization: `Bearer ${token.get()}` } : {});

const silent = () => new Refusal(0, { title: "No answer", detail: "The server does not answer. Start it with `langmemory serve`; this page goes on by itself then." });

function addressOf(path, query) {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query ?? {})) {
    const alone = name === "namespace" && Array.isArray(value) && value.length === 1;
    const values = alone ? [value[0].replace(/[%/]/g, encodeURIComponent)] : value;  // one label, not a path
    for (const one of Array.isArray(values) ? values : [values]) {
      if (one !== undefined && one !== null && one !== "") url.searchParams.append(name, one);
    }
  }
  return url;
}

async function answer(method, path, { query, body, match, more } = {}) {
  const headers = { ...letIn(), ...more };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (match) headers["If-Match"] = match;
  let response;
  try {
    response = await fetch(addressOf(path, query), { method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  } catch {
    throw silent();
  }
  if (!response.ok) throw new Refusal(response.status, await response.json().catch(() => ({})));
  return response;
}

const told = async (response) => (response.status === 204 ? null : response.json());

export const get = async (path, query) => told(await answer("GET", path, { query }));
export const post = async (path, body, more) => told(await answer("POST", path, { body, more }));

/** Return what a path has, and its entity tag. */
export async function tagged(path, query) {
  const response = await answer("GET", path, { query });
  return [await response.json(), response.headers.get("ETag")];
}

/** Write a part, unless it was changed since its entity tag was read. */
export const patch = async (path, { query, body, match }) => told(await answer("PATCH", path, { query, body, match }));

/** Return a file of JSON lines as it comes; `came` is told how many lines and bytes there are so far. */
export async function download(path, query, came) {
  const response = await answer("GET", path, { query });
  const parts = [];
  let lines = 0, bytes = 0;
  try {
    for (const reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      bytes += value.length;
      for (const byte of value) lines += byte === 10;
      came(lines, bytes);
    }
  } catch {
    throw new Refusal(0, { title: "It broke off", detail: "The server went away before the end. What came is not complete and was not kept." });
  }
  return new Blob(parts, { type: "application/x-ndjson" });
}

/** Send a file of JSON lines; `went` is told the share that the server has. */
export function upload(path, query, file, went) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();  // fetch does not tell how much was sent
    request.open("POST", addressOf(path, query));
    for (const [name, value] of Object.entries({ ...letIn(), "Content-Type": "application/x-ndjson" })) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => event.lengthComputable && went(event.loaded / event.total);
    request.onerror = () => reject(silent());
    request.onload = () => {
      let found = {};
      try { found = JSON.parse(request.responseText); } catch { /* no JSON: the status says enough */ }
      if (request.status < 300) resolve(found);
      else reject(new Refusal(request.status, found));
    };
    request.send(file);
  });
}

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
