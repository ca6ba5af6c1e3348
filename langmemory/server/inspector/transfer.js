// Import and export: memory as a file of JSON lines, out whole, and in after a look at what it would change.

import { download, place, upload } from "./api.js";
import { counted, h, notice, placeOf, put } from "./dom.js";
import { acting } from "./parts.js";
import { may } from "./rights.js";

const bytes = (count) => (count < 1e6 ? `${Math.ceil(count / 1e3)} kB` : `${(count / 1e6).toFixed(1)} MB`);

export async function show(body) {
  put(body, h("h1", null, "Import and export"), out(), may.whole() ? into()
    : h("section", null, h("h2", null, "Import"), h("p", { class: "soft" }, "An import acts on the whole file. It needs a token of scope admin without viewer and namespaces.")));
}

function out() {
  const namespace = place.get() ?? [];
  const history = h("input", { type: "checkbox", checked: true });
  const told = h("p", { role: "status", class: "soft" });
  const save = acting(async () => {
    const file = await download("export", { namespace, history: history.checked ? "true" : "false" }, (lines, size) => told.replaceChildren(`${lines} lines, ${bytes(size)} so far`));
    const link = h("a", { href: URL.createObjectURL(file), download: `${[...namespace, new Date().toISOString().slice(0, 10)].join("-").replace(/[^\p{L}\p{N}-]+/gu, "_")}.memory.jsonl` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    const last = (await file.slice(-4096).text()).trimEnd().split("\n").pop();
    told.replaceChildren(`${link.download}, ${bytes(file.size)}.`, last.startsWith('{"error"') ? ` The file is damaged; the export has all that can be read: ${JSON.parse(last).error}` : "");
  });
  return h("section", null, h("h2", null, "Export"),
    h("p", { class: "soft" }, `Everything ${namespace.length ? `in ${placeOf(namespace)} and below` : "in the file"} but vectors, as JSON lines that an import takes back: memories with all facets, history, evidence, people and things.`),
    h("div", { class: "row acts" }, h("button", { type: "button", click: save }, "Download"), h("label", null, history, " with what happened (history and runs)")), told);
}

function into() {
  const input = h("input", { type: "file", id: "file", accept: ".jsonl,.ndjson,.json,application/x-ndjson" });
  const answer = h("div", { "aria-live": "polite" });
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Progress" }), stage = h("span", { class: "soft" });
  const send = async (file, query, after) => {
    bar.hidden = false;
    bar.value = 0;
    stage.replaceChildren("Sending …");
    try {
      return await upload("import", query, file, (share) => {
        if (share < 1) bar.value = share;
        else { bar.removeAttribute("value"); stage.replaceChildren(after); }  // how far the server is, is not known
      });
    } finally {
      bar.hidden = true;
      stage.replaceChildren();
    }
  };
  const restore = async (file) => {
    const done = await send(file, {}, "Writing, and calculating vectors …");
    input.value = "";
    answer.replaceChildren(h("div", { class: "panel" }, h("p", null, h("span", { class: "tag good" }, "imported"), ` ${counted(done.changed, "memory is", "memories are")} new or different, of ${done.memories}.`),
      h("p", null, h("a", { href: "#/memories" }, "Look at them"))));
    notice("Imported.");
  };
  const look = acting(async () => {
    const file = input.files[0];
    if (!file) { input.focus(); throw Object.assign(new Error("Choose a file that an export wrote."), { status: 422, title: "No file" }); }
    answer.replaceChildren();
    answer.replaceChildren(found(file, await send(file, { dry_run: "true" }, "Reading …"), restore));
  });
  return h("section", null, h("h2", null, "Import"),
    h("p", { class: "soft" }, "A file that an export wrote, from here or from ", h("code", null, "langmemory export"), ". It goes where it came from, and repeating it adds nothing. Nothing is written before you have seen what it would change. Conversations of ChatGPT or LangGraph go in by ", h("code", null, "langmemory import FILE"), "."),
    h("div", { class: "row acts" }, h("label", { for: "file" }, "File"), input, h("button", { type: "button", click: look }, "See what it would change")),
    h("div", { class: "row" }, bar, stage), answer);
}

/** Return what a dry run found, line by line, and the button that does it. */
function found(file, told, restore) {
  const { problems } = told;
  const fit = told.changed > 0 && !problems.length;
  return h("div", { class: "panel", "data-keep": true },
    h("h3", null, `${counted(told.changed, "memory", "memories")} would be new or different`),
    h("p", { class: "soft" }, `${file.name}, ${bytes(file.size)}: ${counted(told.lines, "line")}, ${counted(told.memories, "memory", "memories")}.`),
    problems.length > 0 && [h("p", null, h("span", { class: "tag bad" }, counted(problems.length, "problem")), problems.length >= 100 && " These are the first; the rest was not read.", told.memories === 0 && " It does not look like an export."),
      h("div", { class: "scroll" }, h("table", null, h("thead", null, h("tr", null, h("th", { scope: "col" }, "Line"), h("th", { scope: "col" }, "What is wrong"))),
        h("tbody", null, problems.map((one) => h("tr", null, h("td", { class: "number" }, one.line), h("td", { dir: "auto" }, one.detail))))))],
    !problems.length && told.changed === 0 && h("p", null, "All of it is here already: there is nothing to import."),
    h("div", { class: "row acts" }, fit && h("button", { type: "button", class: "main", click: acting(() => restore(file)) }, "Import it"),
      problems.length > 0 && problems.length < 100 && told.memories > 0 && h("button", { type: "button", click: acting(async () => restore(await without(file, problems))) }, `Import it without ${counted(problems.length, "line")}`)));
}

/** Return a file without the lines that cannot be read. */
async function without(file, problems) {
  const wrong = new Set(problems.map((one) => one.line));
  return new Blob([(await file.text()).split("\n").filter((_, at) => !wrong.has(at + 1)).join("\n")]);
}
