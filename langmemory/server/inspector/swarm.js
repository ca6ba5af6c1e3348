// Swarm: what a team of agents is doing: tasks by where they stand, who works on what, decisions, sessions, inboxes.

import { address, get, memoryAddress, place, post } from "./api.js";
import { counted, dialog, empty, h, notice, put, when, words } from "./dom.js";
import { acting, whichNamespace } from "./parts.js";
import { may } from "./rights.js";

const COLUMNS = [["open", "Open"], ["in_progress", "In progress"], ["blocked", "Blocked"], ["done", "Done"]];
const MOST = 12;
const NAMED = 3;

export const concerns = (event) => event.type === "message" || (event.type === "memory" && /^(task|decision|session)\//.test(event.id));

export async function show(body, query, { reload }) {
  const where = place.get();
  put(body, h("h1", null, "Swarm"), h("p", { class: "lead" }, "What a team of agents is doing: its tasks by where they stand, what it decided and why, and for whom messages wait."));
  if (!where?.length) {
    body.append(whichNamespace("A board"));
    return;
  }
  const board = await get("swarm/board", { namespace: where });
  if (!board.tasks.length && !board.decisions.length && !board.sessions.length && !board.agents.length) {
    body.append(empty("No agent has set a task or decided anything here. ", h("code", null, "store.swarm(namespace, agent=…)"), " does, and so do the tools of ", h("code", null, "create_swarm_tools"), "."));
    return;
  }
  put(body, ...body.childNodes, agents(board.agents), pending(board.pending),
    h("h2", null, "Tasks"), h("div", { class: "board" }, COLUMNS.map(([status, title]) => column(title, board, status === "done" ? ["done", "cancelled"] : [status], where, reload))),
    h("div", { class: "columns" }, h("div", null, decisions(board.decisions, where)), h("div", null, sessions(board.sessions, where))));
}

function agents(every) {
  if (!every.length) return null;
  return h("section", null, h("h2", null, "Agents"), h("ul", { class: "agents" }, every.map((one) => h("li", { class: "card" }, h("strong", { dir: "auto" }, one.name), h("span", { class: "tag" }, one.status),
    one.tasks.length ? one.tasks.slice(0, NAMED).map((title) => h("span", { class: "soft", dir: "auto" }, title)) : h("span", { class: "soft" }, "works on nothing"),
    one.tasks.length > NAMED && h("span", { class: "soft" }, `and ${counted(one.tasks.length - NAMED, "further task")}`),
    one.inbox > 0 ? h("a", { href: address("bus"), class: "tag" }, `${one.inbox >= 100 ? "100 or more messages" : counted(one.inbox, "message")} waiting`) : h("span", { class: "soft" }, "no message waits")))));
}

function pending(every) {
  if (!every.length) return null;
  return h("section", null, h("h2", null, "To be done"), h("ul", { class: "agents" }, every.slice(0, NAMED).map((one) => h("li", { class: "card" },
    h("strong", { dir: "auto" }, one.agent), h("span", { class: "tag" }, one.kind), h("span", { class: "soft", dir: "auto" }, one.what)))),
    every.length > NAMED && h("p", { class: "soft" }, `and ${counted(every.length - NAMED, "further action")}`));
}

function column(title, board, statuses, where, reload) {
  const tasks = board.tasks.filter((one) => statuses.includes(one.status));
  const all = statuses.reduce((sum, one) => sum + board.counts[one], 0);
  return h("section", null, h("h3", null, `${title} (${all})`), tasks.length
    ? list("ul", tasks.map((one) => card(one, where, reload))) : h("p", { class: "soft" }, "none"),
    all > tasks.length && h("p", { class: "soft" }, `${all - tasks.length} that changed earlier are not shown`));
}

/** Return a list, of which what comes after the first dozen is shown when it is asked for. */
function list(tag, items, look = null) {
  const rest = items.slice(MOST);
  return [h(tag, look, items.slice(0, MOST)), rest.length > 0 && h("details", null, h("summary", null, `${rest.length} more`), h(tag, look, rest))];
}

function card(task, where, reload) {
  const over = task.status === "done" || task.status === "cancelled";
  return h("li", { class: "card" }, h("a", { href: memoryAddress({ namespace: where, key: task.key }), dir: "auto", class: task.status === "cancelled" ? "over" : "" }, task.title),
    h("span", { class: "meta" }, task.agent && h("span", { dir: "auto" }, task.agent), when(task.updated_at), task.privacy === "private" && h("span", { class: "tag" }, "private")),
    task.blockers.map((one) => h("span", { class: "tag bad", dir: "auto" }, `waits for ${one}`)), task.note && h("span", { class: "soft", dir: "auto" }, task.note),
    may.write() && !over && h("button", { type: "button", click: () => update(task, where, reload) }, "Change…"));
}

/** Ask where a task stands from now on. */
function update(task, where, reload) {
  dialog("Where it stands", (close) => {
    const status = h("select", { "aria-label": "Status" }, ["open", "in_progress", "blocked", "done", "cancelled"].map((one) => h("option", { value: one, selected: one === task.status }, words(one))));
    const blockers = h("textarea", { "aria-label": "What it waits for, one on a line", placeholder: "What it waits for, one on a line" });
    blockers.value = task.blockers.join("\n");
    const note = h("input", { "aria-label": "What happened", placeholder: "What happened", maxlength: 2000 });
    const submit = acting(async () => {
      await post("swarm/tasks/update", { namespace: where, task: task.key, status: status.value, blockers: blockers.value.split("\n").map((one) => one.trim()).filter(Boolean), note: note.value.trim() });
      close();
      notice("Changed; the run can be undone.");
      await reload();
    });
    return [h("p", { class: "said", dir: "auto" }, task.title), h("form", { submit }, h("div", { class: "row" }, h("label", null, "Status ", status)), blockers, h("div", { class: "row" }, h("span", { class: "wide" }, note)),
      h("div", { class: "row acts" }, h("button", { class: "main", type: "submit" }, "Save"), h("button", { type: "button", click: close }, "Cancel")))];
  });
}

function decisions(found, where) {
  return h("section", null, h("h2", null, "Decisions"), found.length ? list("ol", found.map((one) => h("li", null,
    h("p", { class: "said", dir: "auto" }, h("a", { href: memoryAddress({ namespace: where, key: one.key }) }, one.what)), h("p", { class: "soft", dir: "auto" }, `because ${one.why}`),
    one.alternatives.length > 0 && h("p", { class: "soft", dir: "auto" }, `instead of ${one.alternatives.join("; ")}`), h("div", { class: "meta" }, one.made_by && h("span", { dir: "auto" }, one.made_by), when(one.created_at)))), { class: "list" })
    : h("p", { class: "soft" }, "Nothing was decided."));
}

function sessions(found, where) {
  const part = (label, items) => items.length > 0 && h("p", { dir: "auto" }, h("span", { class: "soft" }, `${label} `), items.join("; "));
  return h("section", null, h("h2", null, "Sessions"), found.length ? list("ol", found.map((one) => h("li", null,
    h("div", { class: "meta" }, h("a", { href: memoryAddress({ namespace: where, key: one.key }), dir: "auto" }, one.agent ?? "an agent"), when(one.ended_at)),
    part("done", one.work_done), part("decided", one.decisions), part("blocked by", one.blockers), part("next", one.next_steps), ![one.work_done, one.decisions, one.blockers, one.next_steps].some((each) => each.length) && h("p", { class: "soft" }, "nothing finished"))), { class: "list" })
    : h("p", { class: "soft" }, "No session has ended."));
}
