"""Formation: from what was said to a change set. Nothing here writes, and nothing knows LangGraph.

In order: a `batch` of turns; `extraction` by a model, or `rules`; `times`; `entities` and `relations`;
`duplicates`; `contradiction` and its `judging`; `planning`, which makes the change set with what
`approval` lets pass and the `questions` that stay. What is known is seen through `facts.Knowledge`.
"""
