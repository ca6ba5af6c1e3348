"""Reflection in the background: what was said becomes knowledge without anybody waiting for it.

`executor` and `queue` take work in, `worker` does it; the jobs stand in the memory file. `steps` are
the nodes of `langmemory.graphs.build_reflection_graph`.
"""

from langmemory.reflection.executor import ReflectionExecutor, RemoteReflectionExecutor
from langmemory.reflection.local import LocalReflectionExecutor
from langmemory.reflection.payload import Debounce, WorkOptions
from langmemory.reflection.queue import TurnQueue
from langmemory.reflection.reflector import ProcedureLearner, create_procedure_learner
from langmemory.reflection.worker import Worker

__all__ = [
    "Debounce",
    "LocalReflectionExecutor",
    "ProcedureLearner",
    "ReflectionExecutor",
    "RemoteReflectionExecutor",
    "TurnQueue",
    "WorkOptions",
    "Worker",
    "create_procedure_learner",
]
