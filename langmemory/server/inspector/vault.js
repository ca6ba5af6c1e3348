// Vault: secrets by their labels, locked; one is unlocked with a reason, shown for some seconds, and the log below says so.

import { address, get, place, post } from "./api.js";
import { dialog, empty, h, placeOf, put, when } from "./dom.js";
import { acting, paged } from "./parts.js";
import { may } from "./rights.js";

const SHOWN_SECONDS = 20;
const DONE = { put: "stored", unlock: "unlocked", refuse: "did not open", delete: "deleted", restore: "restored", forget: "forgotten", rotate: "encrypted anew" };

export async function show(body, query, { reload }) {
  const where = place.get() ?? [], label = query.get("label") ?? "";
  put(body, h("h1", null, "Vault"), h("p", { class: "lead" }, "Secrets that applications and their tools use. They are encrypted, and no model, search or prompt has one."),
    h("form", { class: "row", submit: (event) => { event.preventDefault(); location.hash = address("vault", { label: new FormData(event.target).get("label") }); } },
      h("label", null, "Label ", h("input", { type: "search", name: "label", value: label, autocomplete: "off" })), h("button", { type: "submit" }, "Find")),
    !may.unlock() && h("p", { class: "soft" }, "Your token shows labels alone. Unlocking needs one made by ", h("code", null, "langmemory token create --vault"), ", or on this machine ", h("code", null, "langmemory serve --unlock-vault"), "."));
  const { items: secrets } = await get("vault", { namespace: where, label });
  put(body, secrets.length ? h("ol", { class: "list" }, secrets.map((one) => secret(one, reload)))
    : empty(label ? "No label contains this." : ["There is no secret here. ", h("code", null, "langmemory vault put LABEL"), " stores one, and so does ", h("code", null, "store.vault.put(…)"), "."]));
  put(body, h("h2", null, "Who did what"), await paged(async (before) => {
    const { items: events } = await get("vault/audit", { namespace: where, limit: 50, before });
    return { items: events, next: events.length === 50 ? events.at(-1).seq : null };
  }, entry, h("p", { class: "soft" }, "Nobody has used the vault.")));
}

function secret(one, reload) {
  const open = h("div"), state = h("span", { class: "tag" }, "locked");
  const acts = may.unlock() && h("div", { class: "row acts" }, h("button", { type: "button", click: () => unlock(one, (text) => reveal(text, open, () => { state.textContent = "unlocked"; acts.hidden = true; }, reload)) }, "Unlock…"));
  return h("li", null,
    h("div", { class: "row between" }, h("strong", { dir: "auto" }, one.label), state),
    h("div", { class: "meta" }, h("span", null, placeOf(one.namespace)), h("span", null, one.owner === null ? "the application's" : `${one.owner}'s`), h("span", null, `version ${one.version}`), h("span", null, "stored ", when(one.stored_at))),
    open, acts);
}

/** Ask why, unlock a secret, and give it to `show`. */
function unlock(one, show) {
  dialog("Unlock", (close) => {
    const reason = h("input", { "aria-label": "Why", placeholder: "What it is needed for", required: true, minlength: 3, maxlength: 500, autocomplete: "off" });
    const submit = acting(async () => {
      const found = await post("vault/unlock", { namespace: one.namespace, label: one.label, owner: one.owner ?? undefined, reason: reason.value.trim() });
      close();
      show(found.secret);
    });
    return [h("p", null, `The audit log will say that ${one.label} was unlocked, when, by which token, and this reason:`),
      h("form", { submit }, h("div", { class: "row" }, h("span", { class: "wide" }, reason)), h("div", { class: "row acts" }, h("button", { class: "main", type: "submit" }, "Unlock"), h("button", { type: "button", click: close }, "Cancel")))];
  });
}

/** Show a secret for some seconds; then the page is made anew, with the entry of the log. */
function reveal(text, open, opened, reload) {
  const left = h("span", { class: "soft" });
  let seconds = SHOWN_SECONDS;
  const hide = () => { clearInterval(timer); open.replaceChildren(); delete open.dataset.keep; if (document.contains(open)) reload(); };
  const tick = () => { if (seconds === 0 || !document.contains(open)) hide(); else left.textContent = `hidden in ${seconds--} s`; };
  const timer = setInterval(tick, 1000);
  open.dataset.keep = "";
  opened();
  open.replaceChildren(h("pre", { tabindex: 0, "aria-label": "Secret" }, text), h("div", { class: "row" }, left,
    navigator.clipboard && h("button", { type: "button", click: () => navigator.clipboard.writeText(text) }, "Copy"), h("button", { type: "button", click: hide }, "Hide")));
  tick();
}

function entry(one) {
  const what = one.label === null ? (one.action === "rotate" ? "the vault" : "a forgotten secret") : one.version === null ? one.label : `${one.label} (version ${one.version})`;
  return h("li", null,
    h("p", { class: "said", dir: "auto" }, h("span", { class: `tag ${one.action === "refuse" ? "bad" : ""}` }, DONE[one.action] ?? one.action), " ", what, one.reason && `: ${one.reason}`),
    h("div", { class: "meta" }, when(one.at), h("span", null, one.viewer === null ? "for the application" : `for ${one.viewer}`), one.by && h("span", null, `by ${one.by}`), one.owner && h("span", null, `${one.owner}'s`), one.namespace && h("span", null, placeOf(one.namespace))));
}
