"""Reflect in the background: what people say becomes facts, and the agent never waits for it.

Run it: python examples/reflection.py
"""

import tempfile

from langmemory import MemoryStore, build_chat_graph, build_reflection_graph
from langmemory.graphs import NoModel
from langmemory.reflection import Debounce, ReflectionExecutor

ANNA = ("memories", "anna")


def main(store: MemoryStore) -> None:
    reflector = build_reflection_graph(store)  # by rules; model=… finds more facts
    at_once = Debounce(debounce_seconds=0)  # the default is 30 seconds after the last turn
    with ReflectionExecutor(reflector, store=store, debounce=at_once) as executor:
        chat = build_chat_graph(NoModel(), store=store, reflection=executor)
        for day, said in enumerate(("I live in Lyon.", "We moved to Porto.")):
            config = {"configurable": {"user_id": "anna", "thread_id": f"day {day}"}}
            chat.invoke({"messages": [{"role": "user", "name": "Anna", "content": said}]}, config)
    for fact in store.recall("Where does Anna live?", ANNA, kinds=["semantic"]):
        print(fact.text)


with tempfile.TemporaryDirectory() as folder, MemoryStore(f"{folder}/memory.db") as store:
    main(store)
