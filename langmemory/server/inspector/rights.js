// Rights: what the token allows, so that the pages offer nothing that would be refused.

import { get } from "./api.js";

const NONE = { token: "", viewer: null, namespaces: [], scope: "read", agent: null, unlocks: false, parts: [] };
const RANK = { read: 0, write: 1, admin: 2 };
let known = NONE;

/** Ask the server again, as after another token. */
export async function learn() {
  known = NONE;
  known = await get("rights");
}

const atLeast = (scope) => RANK[known.scope] >= RANK[scope];

export const may = {
  /** Change a memory that the viewer owns, decide a review. */
  write: () => atLeast("write"),
  /** See and change what concerns everybody: runs, nights, reviews, MEMORY.md. */
  seeAll: () => known.viewer === null,
  decide: () => atLeast("write") && known.viewer === null,
  /** Take back runs and nights. */
  undo: () => atLeast("admin") && known.viewer === null,
  forget: () => atLeast("admin") && known.viewer === null,
  export: () => atLeast("admin"),
  /** Take back what an agent said. */
  speakFor: (agent) => atLeast("write") && (known.agent === null ? known.viewer === null : known.agent === agent),
  /** Unlock secrets of the vault. */
  unlock: () => known.unlocks,
  /** Use what a part of the server has. */
  have: (part) => () => known.parts.includes(part),
  /** Act on the whole file: import, jobs. */
  whole: () => atLeast("admin") && known.viewer === null && known.namespaces.length === 0,
};

/** Return who looks, in words. */
export function told() {
  const who = known.viewer === null ? "everybody's memory" : known.viewer === "" ? "what somebody unknown may see" : `what ${known.viewer} may see`;
  const what = { read: "only reading", write: "reading and writing", admin: "everything" }[known.scope];
  const where = known.namespaces.length ? `, within ${known.namespaces.map((one) => one.join("/")).join(", ")}` : "";
  const agent = known.agent === null ? "" : ` It speaks for the agent ${known.agent}.`;
  return `${known.token === "local" ? "No token is needed here" : `Token ${known.token}`}: ${who}${where}; allowed is ${what}.${agent}`;
}
