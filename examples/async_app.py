"""Use MemoryStore from an async app: many requests at once, one store, one event loop.

Run it: python examples/async_app.py
"""

import asyncio
import tempfile

from langmemory import MemoryStore

WISHES = {
    "ada": "I get seasick, so no ferries.",
    "bruno": "My passport runs out on 3 March.",
    "chidi": "Window seats only, and never before ten in the morning.",
}


async def handle(store: MemoryStore, user: str, question: str) -> str:
    """Answer a web request: recall matching memories, then remember the new messages."""
    namespace = ("travel", user)
    found = await store.arecall(question, namespace, limit=1)
    await store.aremember(namespace, [{"role": "user", "content": question}], thread_id="today")
    return f"{user}: {found.results[0].text}"


async def main(file: str) -> None:
    async with MemoryStore.from_conn_string(file) as store:
        async with asyncio.TaskGroup() as together:
            for user, wish in WISHES.items():
                together.create_task(store.aput(("travel", user), "wish", {"text": wish}))
        question = "What do I have to think of when I book?"
        print("\n".join(await asyncio.gather(*(handle(store, user, question) for user in WISHES))))


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(f"{folder}/memory.db"))
