// Live: the feed of what happens, read as a stream. EventSource cannot send a token, so this reads by fetch.

import { letIn } from "./api.js";

const FEED = new URL("events", document.baseURI);
const LONGEST_MS = 15_000;

/** Follow the feed until the returned function is called. `happened` gets each event; `state` gets "live",
    "away" (it is tried again) or "off", with a reason. A tab that is not seen leaves the feed, and reads on from
    where it was when it is seen again. */
export function follow(happened, state) {
  let cursor = null, reading = null, over = false;
  const seen = () => {
    if (over) return;
    if (document.hidden) { reading?.abort(); reading = null; }
    else if (!reading) { reading = new AbortController(); read(reading.signal); }
  };

  async function read(signal) {
    for (let wait = 500; !signal.aborted; wait = Math.min(LONGEST_MS, wait * 2)) {
      try {
        const headers = { ...letIn(), ...(cursor ? { "Last-Event-ID": cursor } : {}) };
        const response = await fetch(FEED, { headers, signal, cache: "no-store" });
        if (response.status === 422) cursor = null;  // of another file, which is served here by now
        else if (!response.ok) {
          const told = await response.json().catch(() => ({}));
          if ([401, 403, 404].includes(response.status)) { over = true; state("off", told.detail ?? "The server has no feed."); return; }
        } else {
          for await (const one of events(response.body)) {
            cursor = one.id ?? cursor;
            if (one.name === "ready") { state("live"); wait = 250; }
            else if (one.name === "end" && JSON.parse(one.data).reason === "token") { over = true; state("off", "The token was revoked or has expired."); return; }
            else if (one.name !== "end") happened(JSON.parse(one.data));
          }
        }
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof TypeError)) console.warn("feed", error);
      }
      if (signal.aborted) return;
      state("away", "The server does not answer; it is asked again.");
      await new Promise((resolve) => { setTimeout(resolve, wait); signal.addEventListener("abort", resolve, { once: true }); });
    }
  }

  document.addEventListener("visibilitychange", seen);
  seen();
  return () => { over = true; document.removeEventListener("visibilitychange", seen); reading?.abort(); };
}

/** Yield the events of a stream of server-sent events: name, id and data of each. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const one = { name: "message", data: "" };
      for (const line of block.split("\n")) {
        const [field, text] = line.split(/: ?(.*)/s);
        if (field === "event") one.name = text;
        else if (field === "id") one.id = text;
        else if (field === "data") one.data += text;
      }
      if (one.data) yield one;
    }
  }
}
