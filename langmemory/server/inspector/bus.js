// Bus: what agents tell each other, who has it, and taking something back. Looking acknowledges nothing.

import { address, get, memoryAddress, named, place, post } from "./api.js";
import { dialog, empty, h, notice, number, placeOf, put, when, words } from "./dom.js";
import { acting, paged } from "./parts.js";
import { may } from "./rights.js";

const TYPES = ["finding", "decision", "progress", "warning", "knowledge", "task_result", "escalation", "request", "reply", "handoff", "invalidation"];

export const concerns = (event) => event.type === "message";

export async function show(body, query, { reload }) {
  const where = place.get() ?? [];
  const type = query.get("type") ?? "", topic = query.get("topic") ?? "", id = query.get("id");
  put(body, h("h1", null, "Bus"), h("p", { class: "lead" }, "What agents tell each other: findings, questions, work that is handed on. Who has it and who is done with it stands below each message."));
  if (id) {
    const one = await get(named("bus/messages", id), { namespace: where });
    put(body, h("p", null, h("a", { href: address("bus") }, "All messages")), h("ol", { class: "list" }, message(one, where, reload)), h("h2", null, "What came of it"));
  } else {
    const form = h("form", { class: "row", submit: (event) => event.preventDefault(), change: () => { location.hash = address("bus", Object.fromEntries(new FormData(form))); } },
      h("label", null, "Type ", h("select", { name: "type" }, h("option", { value: "" }, "any"), TYPES.map((one) => h("option", { selected: one === type }, one)))),
      h("label", null, "Topic ", h("input", { type: "search", name: "topic", value: topic, autocomplete: "off" })));
    put(body, form);
  }
  put(body, await paged((cursor) => get("bus/messages", { namespace: where, types: type, topic, reply_to: id, limit: 50, cursor }), (one) => message(one, where, reload),
    id ? h("p", { class: "soft" }, "Nothing yet: nobody answered it or took it back.")
      : empty(type || topic ? "No message is of this type and topic." : ["No agent has said anything here. ", h("code", null, "store.bus(namespace, agent=…).share(…)"), " does, and so do the tools of ", h("code", null, "create_swarm_tools"), "."])));
}

/** Return one message: from whom, to whom, what it says, and who has it. */
function message(one, where, reload) {
  const gone = one.state === "invalidated";
  const list = (title, items) => items.length > 0 && h("div", { class: "meta" }, h("span", null, title), items);
  return h("li", { class: "message" },
    h("div", { class: "row between" }, h("strong", { dir: "auto" }, one.sender, " → ", one.recipient ?? "all"), h("span", { class: `tag ${one.type === "warning" || one.type === "invalidation" ? "bad" : ""}` }, one.type),
      one.priority !== "normal" && h("span", { class: `tag ${one.priority === "high" ? "bad" : ""}` }, `${one.priority} priority`),
      one.state !== "open" && h("span", { class: `tag ${gone ? "bad" : "good"}` }, gone ? "taken back" : "done with"), one.privacy === "private" && h("span", { class: "tag" }, "private")),
    h("p", { class: gone ? "said over" : "said", dir: "auto" }, h("a", { href: address("bus", { id: one.id }) }, one.summary)),
    one.next_steps.length > 0 && h("ol", { class: "steps" }, one.next_steps.map((step) => h("li", { dir: "auto" }, step))),
    one.details && h("details", null, h("summary", null, "Details"), h("pre", { dir: "auto", tabindex: 0, "aria-label": "Details" }, one.details)),
    list("with", one.artifacts.map((artifact) => h("code", null, artifact))),
    list("rests on", one.memories.map((key) => h("a", { href: memoryAddress({ namespace: one.namespace, key }) }, key))),
    h("div", { class: "meta" }, when(one.created_at), one.topic && h("span", null, "about ", h("a", { href: address("bus", { topic: one.topic }) }, one.topic)), one.confidence !== null && h("span", null, `${number(100 * one.confidence, 0)} % sure`),
      one.reply_to && h("a", { href: address("bus", { id: one.reply_to }) }, one.type === "invalidation" ? "what it takes back" : "what it answers"), h("span", null, "until ", when(one.expires_at, true)), placeOf(one.namespace) !== placeOf(where) && h("span", null, placeOf(one.namespace))),
    receipts(one),
    may.speakFor(one.sender) && !gone && one.type !== "invalidation" && h("div", { class: "row acts" }, h("button", { type: "button", click: () => takeBack(one, reload) }, "Take back…")));
}

function receipts(one) {
  if (!one.receipts.length) return h("div", { class: "meta" }, h("span", null, one.recipient ? `${one.recipient} has not seen it yet` : "nobody has seen it yet"));
  return h("div", { class: "meta" }, one.receipts.map((receipt) => h("span", null, receipt.acknowledged_at ? [`${receipt.agent} is done with it, `, when(receipt.acknowledged_at)] : [`${receipt.agent} saw it `, when(receipt.seen_at), ", and is not done with it"])));
}

/** Ask why, and take a message back in the name of the agent that sent it. */
function takeBack(one, reload) {
  dialog("Take back", (close) => {
    const reason = h("input", { "aria-label": "Why", placeholder: "Why it does not hold", required: true, maxlength: 2000 });
    const submit = acting(async () => {
      await post("bus/invalidations", { message_id: one.id, reason: reason.value.trim(), namespace: one.namespace }, { "Memory-Agent": JSON.stringify(one.sender) });
      close();
      notice("Taken back; who saw it is told.");
      await reload();
    });
    return [h("p", null, `Those who saw it are told in the name of ${one.sender}. Memories that may rest on it are put to review.`), h("p", { class: "said", dir: "auto" }, one.summary),
      h("form", { submit }, h("div", { class: "row" }, h("span", { class: "wide" }, reason)), h("div", { class: "row acts" }, h("button", { class: "main", type: "submit" }, `Take back (${words(one.type)})`), h("button", { type: "button", click: close }, "Cancel")))];
  });
}
