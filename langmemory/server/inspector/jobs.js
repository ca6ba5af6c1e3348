// Jobs: the queue of reflections; those that were given up are tried again or dropped here.

import { get, post } from "./api.js";
import { counted, empty, h, notice, put, when } from "./dom.js";
import { acting, paged } from "./parts.js";

const STATES = ["running", "pending", "dead", "done"];

export const concerns = (event) => event.type === "job";

export async function show(body, query, { reload }) {
  const act = (path, id, sentence) => acting(async () => {
    const done = await post(`jobs/${path}`, { ids: [id] });
    notice(done.ids.length ? sentence : "It is not in this state any more.");
    await reload();
  });
  put(body, h("h1", null, "Jobs"), h("p", { class: "lead" }, "What is to be reflected, is being reflected, or was given up."),
    await paged((cursor) => get("jobs", { state: STATES, limit: 50, cursor }), (job) => h("li", null,
      h("p", { class: "said" }, h("span", { class: `tag ${job.state === "dead" ? "bad" : job.state === "done" ? "good" : ""}` }, job.state === "dead" ? "given up" : job.state), ` ${job.kind}`, job.thread && ` of ${job.thread}`),
      h("div", { class: "meta" }, h("span", null, `number ${job.id}`), h("span", null, "due ", when(job.due_at)), job.attempts > 0 && h("span", null, counted(job.attempts, "attempt")), job.worker && h("span", null, `by ${job.worker}`), job.finished_at && h("span", null, "finished ", when(job.finished_at))),
      job.error && h("p", { class: "soft" }, job.error),
      (job.state === "dead" || job.state === "pending") && h("div", { class: "row acts" },
        job.state === "dead" && h("button", { type: "button", click: act("retry", job.id, "It is tried again.") }, "Try again"),
        h("button", { type: "button", class: "danger", click: act("drop", job.id, "Dropped.") }, "Drop"))),
    empty("The queue is empty. ", h("code", null, "ReflectionExecutor"), " fills it after a conversation; ", h("code", null, "langmemory worker"), " works it off.")));
}
