// Sends the requests of the client in index.js, which is generated. It needs `fetch` and nothing else.

const PREFIX = "/api/v1/memory";

/** A refusal of the server. `kind` is its word for programs, such as "not-found". */
export class MemoryError extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `The server answered ${status}.`);
    this.name = "MemoryError";
    this.status = status;
    this.kind = (problem.type ?? "").replace("urn:langmemory:problem:", "");
    this.problem = problem;
  }
}

export class Transport {
  #address; #headers; #fetch;

  constructor(address, { token, viewer, agent, fetch = globalThis.fetch } = {}) {
    this.#address = address.replace(/\/+$/, "");
    this.#headers = { ...identity({ viewer, agent }) };
    if (token !== undefined) this.#headers["Authorization"] = `Bearer ${token}`;
    this.#fetch = fetch;
  }

  /** Sends one request. `args` has the values of the path, of the query, and else of the body. */
  async _call(method, path, query, media, args = {}, { viewer, agent, headers, signal } = {}) {
    const rest = { ...args };
    const taken = (name) => {
      const value = rest[name];
      delete rest[name];
      return value;
    };
    const place = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(taken(name)));
    const asked = new URLSearchParams();
    for (const name of query) {
      const value = taken(name);
      if (value === undefined || value === null) continue;
      if (name === "namespace") asked.append(name, value.map(escaped).join("/"));
      else for (const one of Array.isArray(value) ? value : [value]) asked.append(name, one);
    }
    const send = { ...this.#headers, ...identity({ viewer, agent }), ...headers };
    let body;
    if (media !== null) {
      send["Content-Type"] = media;
      body = media === "application/json" ? JSON.stringify(rest) : rest.content;
    }
    const text = asked.toString();
    const url = `${this.#address}${PREFIX}${place}${text && `?${text}`}`;
    const response = await this.#fetch(url, { method, headers: send, body, signal });
    if (!response.ok) throw new MemoryError(response.status, await problemOf(response));
    const kind = response.headers.get("content-type") ?? "";
    if (kind.startsWith("application/x-ndjson")) return lines(response.body);
    return response.status === 204 ? undefined : response.json();
  }
}

/** A label of a namespace in an address, where a slash stands between labels. */
const escaped = (label) => label.replaceAll("%", "%25").replaceAll("/", "%2F");

/** The headers that say for whom and as which agent a request is sent: JSON strings in ASCII. */
function identity(names) {
  const headers = {};
  for (const [name, value] of Object.entries({ "Memory-Viewer": names.viewer, "Memory-Agent": names.agent })) {
    if (value === undefined) continue;
    headers[name] = JSON.stringify(value).replace(
      /[\u007f-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }
  return headers;
}

async function problemOf(response) {
  try {
    return await response.json();
  } catch {
    return {};
  }
}

/** The values of JSON lines, as they come. */
async function* lines(body) {
  let rest = "";
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + piece).split("\n");
    rest = parts.pop();
    for (const one of parts) if (one) yield JSON.parse(one);
  }
  if (rest) yield JSON.parse(rest);
}
