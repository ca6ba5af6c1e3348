// Signals: what speaks for a result, as bars, as one sentence, and as the steps that brought it to its place.

import { bars, counted, h, number, words } from "./dom.js";

/** What each signal means (`SignalWeights` of the library has the numbers): in full, and in a word or two. */
const MEANING = {
  claim: ["says what is asked of whom the question names", "says what is asked"],
  keyword: ["has words of the question", "has words of the question"],
  sparse: ["its sparse vector is near that of the question", "means something similar"],
  dense: ["means something similar, whatever its words", "means something similar"],
  context_match: ["it and what was said around it have the words of the question", "what was said around it fits"],
  preceding_context: ["it and what was said just before have the words of the question", "what was said around it fits"],
  answers_previous: ["answers a question that was like this one", "answered such a question"],
  session: ["the best turns of its conversation fit", "comes from a conversation about this"],
  speaker: ["said by whom the question is about", "said by whom it is about"],
  declarative: ["states something instead of asking", null],
  temporal: ["tells a time, and the question asks when", "tells when"],
  period: ["said in the period that is asked about", "said at that time"],
  recency: ["said last, and the question asks what holds now", "said last"],
  identifier: ["has the numbers, codes or addresses of the question, exactly", "has the same number or code"],
  related: ["has words akin to those of the question", "has words akin to the question's"],
  overlap: ["has words of the question, or nearly", null],
};
const FACTORS = { importance: "how much it matters", confidence: "how sure it is", stale: "whether it still holds", others: "whether it is of whom the question is about" };

/** Return in one sentence what spoke most for a result. */
export function because(one) {
  const strong = Object.entries(one.explanation?.contributions ?? {}).filter(([, value]) => value >= 0.04).map(([name]) => MEANING[name]?.[1]).filter(Boolean);
  const told = [...new Set(strong)].slice(0, 3).join(" · ");
  return told ? `${told[0].toUpperCase()}${told.slice(1)}` : "Little speaks for it";
}

const CHANNELS = { dense: "by meaning", keyword: "by words", sparse: "by its sparse vector", claim: "by what it claims", context: "beside another" };

/** Return how a result was found and moved, step by step. */
export function steps(one) {
  const why = one.explanation;
  if (!why) return null;
  const ranks = Object.entries(why.ranks).map(([name, rank]) => `${CHANNELS[name] ?? `by ${words(name)}`} at place ${rank}`).join(", ");
  const lines = [ranks && `found ${ranks}`, ...why.moves.map((one) => one.replace("->", "→")),
    why.evidence.length && `made from ${counted(why.evidence.length, "turn")}`].filter(Boolean);
  return lines.length ? h("details", null, h("summary", null, "How it came to this place"), h("ul", { class: "steps" }, lines.map((line) => h("li", null, line)))) : null;
}

/** Return every signal as a bar: what adds to the relevance first, then what multiplies it, then the rest. */
export function signals(one) {
  const why = one.explanation;
  const added = Object.entries(why?.contributions ?? {});
  const most = Math.max(0.0001, ...added.map(([, value]) => value));
  const strong = added.filter(([, value]) => value >= 0.005).slice(0, 5);
  const factors = Object.entries(why?.multipliers ?? {});
  const row = ([name, value]) => [name, value / most, `+ ${number(value)}`, false, MEANING[name]?.[0]];
  const times = ([name, value]) => [name, value / 2, `× ${number(value)}`, false, FACTORS[name]];
  const raw = Object.entries(one.parts).filter(([name]) => !["relevance", "rank"].includes(name) && !(name in (why?.contributions ?? {})));
  const all = [...added.map(row), ...raw.map(([name, value]) => [name, value > 1 ? value / (value + 5) : value, number(value), false, MEANING[name]?.[0]]), ...factors.map(times)];
  return [
    bars([["score", one.score, number(one.score, 3), true, "how likely it answers the question"], ...strong.map(row), ...factors.filter(([, value]) => Math.abs(value - 1) > 0.03).map(times)]),
    h("details", null, h("summary", null, `All ${all.length} signals`), bars(all)),
  ];
}
