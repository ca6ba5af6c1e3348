"""Namespaces per user: everybody has their own memory, and one call forgets a person.

Run it: python examples/namespaces_per_user.py
"""

import tempfile

from langmemory import MemoryStore

SAID = (
    ("mia", "I play the oboe in the town orchestra."),
    ("noor", "I build kites and fly them at the north beach."),
    ("noor", "On Fridays I help in my brother's bakery."),
)

with (
    tempfile.TemporaryDirectory() as folder,
    MemoryStore.from_conn_string(f"{folder}/memory.db") as store,
):
    for user, line in SAID:
        message = {"role": "user", "content": line}
        store.remember(("memories", user), [message], thread_id=f"with-{user}")

    for user in ("mia", "noor"):
        best = store.recall("What is my hobby?", ("memories", user), limit=1).results[0]
        print(f"{user}: {best.text}")

    best = store.recall("bakery", ("memories",), limit=1).results[0]
    print(f"a prefix reads them all: {best.memory.namespace} {best.text}")

    print("namespaces:", store.list_namespaces(prefix=("memories",)))
    print(f"forget noor: {store.admin.delete_namespace(('memories', 'noor'))} memories gone")
    print("namespaces:", store.list_namespaces(prefix=("memories",)))
