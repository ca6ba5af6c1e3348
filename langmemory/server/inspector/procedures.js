// Procedures: how things are done, step by step, how it went, and one procedure with its versions.

import { address, get, named, place, post } from "./api.js";
import { counted, empty, h, notice, placeOf, put, when } from "./dom.js";
import { acting } from "./parts.js";
import { may } from "./rights.js";

export const concerns = (event) => event.type === "memory" && event.kind === "procedural";

const addressOf = (one) => address("procedures", { ns: one.namespace, key: one.key });
const SOURCES = { person: "a person said so", run: "read from a run of tools", agent: "an agent noted it" };

/** Return how it went, in words and as a mark. */
function record({ outcomes: { succeeded, failed, last_failure: why } }) {
  if (!succeeded && !failed) return h("span", { class: "tag" }, "never followed");
  const told = failed > succeeded ? `failed ${failed} of ${failed + succeeded}` : `worked ${succeeded} of ${failed + succeeded}`;
  return [h("span", { class: failed > succeeded ? "tag bad" : "tag good" }, told), failed > 0 && why && h("span", { dir: "auto" }, `last failure: ${why}`)];
}

const about = (one) => h("div", { class: "meta" }, record(one), h("span", null, `version ${one.version}`),
  h("span", { title: one.priority === "guardrail" ? "followed where it applies" : "background" }, `shown as ${one.priority}`), h("span", null, SOURCES[one.source]),
  one.status !== "active" && h("span", { class: "tag bad" }, one.status), one.privacy !== "shared" && h("span", { class: "tag" }, one.privacy), one.outcomes.last_used && h("span", null, "last followed ", when(one.outcomes.last_used)));

const steps = (one) => [one.preconditions.length > 0 && h("p", { class: "soft", dir: "auto" }, `First make sure: ${one.preconditions.join("; ")}`),
  h("ol", { dir: "auto" }, one.steps.map((step) => h("li", null, step.text, step.tool && [" ", h("code", null, step.tool)])))];

export async function show(body, query, { reload }) {
  if (query.get("key")) await one(body, query.getAll("ns"), query.get("key"), reload);
  else await all(body, query);
}

async function all(body, query) {
  const namespace = place.get() ?? [], task = query.get("task") ?? "";
  const input = h("input", { type: "search", name: "task", value: task, "aria-label": "Task", placeholder: "What is to be done", "data-focus": true, autocomplete: "off" });
  input.style.setProperty("width", "100%");
  const go = (event) => {
    event.preventDefault();
    location.hash = address("procedures", { task: input.value.trim() });
  };
  put(body, h("h1", null, "Procedures"), h("p", { class: "lead" }, "How things are done. One that fits what is asked for stands in the prompt; what failed more often than it worked is background there."),
    h("form", { role: "search", submit: go }, h("div", { class: "row ask" }, h("span", { class: "wide" }, input), h("button", { class: "main", type: "submit" }, "Find"))));
  if (task) {
    const { items } = await get("procedures/for-task", { namespace, task, limit: 10 });
    put(body, items.length ? h("ol", { class: "list" }, items.map(({ procedure, score, why }) => row(procedure, `score ${score.toFixed(2)}; ${why}`))) : empty("No procedure fits. Ask in other words."));
    return;
  }
  const { items } = await get("procedures", { namespace });
  put(body, items.length ? h("ol", { class: "list" }, items.map((found) => row(found))) : empty("There is no procedure here. Add one: ", h("code", null, 'langmemory procedures add "TASK" "STEP" "STEP"'), "."));
}

const row = (one, why) => h("li", null, h("p", { class: "said", dir: "auto" }, h("a", { href: addressOf(one) }, one.task)),
  h("div", { class: "meta" }, h("span", null, counted(one.steps.length, "step")), why && h("span", null, why), h("span", null, placeOf(one.namespace))), about(one));

async function one(body, namespace, key, reload) {
  const [procedure, { items: versions }] = await Promise.all([get(named("procedures", key), { namespace }), get("procedures/versions", { namespace, key })]);
  put(body, h("p", { class: "meta" }, h("a", { href: "#/procedures" }, "All procedures")), h("h1", { dir: "auto" }, procedure.task), about(procedure),
    h("p", { class: "soft" }, `Shown as ${procedure.priority} because ${procedure.why}.`), steps(procedure));
  const said = (outcome) => acting(async () => {
    await post("procedures/outcome", { namespace, key, outcome, why: outcome === "failed" ? "a person said so" : "" });
    notice(`Recorded: it ${outcome}.`);
    await reload();
  });
  put(body, h("div", { class: "row acts" }, may.write() && procedure.status === "active" && [h("button", { type: "button", click: said("succeeded") }, "It worked"), h("button", { type: "button", click: said("failed") }, "It failed")],
    h("a", { href: address("memory", { ns: namespace, key }) }, "its history")));
  const others = versions.filter((each) => each.key !== key).toReversed();
  if (others.length) put(body, h("section", null, h("h2", null, "Other versions"), others.map((each) => h("section", { class: "block-of" }, h("h3", null, h("a", { href: addressOf(each) }, `Version ${each.version}`)), about(each), steps(each)))));
}
