"""Get, put one, put a hundred fresh, put a hundred overwriting: all stores call by call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from langgraph.store.base import PutOp

from benchmarks.contenders import Contender, get
from benchmarks.dataset import FRESH, Dataset, Namespace, value_of
from benchmarks.measure import Call, Row, interleaved

STRIDE = 7_919
"""A prime: visits keys all over the store, the same ones for every contender."""


def get_call(contender: Contender, dataset: Dataset, namespace: Namespace) -> Call:
    return lambda n: get(contender, namespace, f"m{n * STRIDE % dataset.size}")


def put_call(
    contender: Contender, dataset: Dataset, namespace: Namespace, key_of: Callable[[int], str]
) -> Call:
    """Puts one fresh fact under `key_of(n)`."""

    def call(n: int) -> object:
        text = dataset.fresh[n % FRESH]
        return contender.run([PutOp(namespace, key_of(n), value_of(n, text))])

    return call


def put_100_call(
    contender: Contender, dataset: Dataset, namespace: Namespace, key_of: Callable[[int], str]
) -> Call:
    """Puts a hundred fresh facts under `key_of` of their numbers, in one batch."""

    def call(n: int) -> object:
        numbers = range(n * 100, n * 100 + 100)
        ops = [PutOp(namespace, key_of(i), value_of(i, dataset.fresh[i % FRESH])) for i in numbers]
        return contender.run(ops)

    return call


def measure(
    contenders: Sequence[Contender], dataset: Dataset, namespace: Namespace, seconds: float
) -> Iterable[Row]:
    """Leaves the stores changed: run it last."""

    def stored(n: int) -> str:
        return f"m{n * STRIDE % dataset.size}"

    makers: dict[str, Callable[[Contender], Call]] = {
        "get": partial(get_call, dataset=dataset, namespace=namespace),
        "put one": partial(
            put_call, dataset=dataset, namespace=namespace, key_of=lambda n: f"one{n}"
        ),
        "put 100 fresh": partial(
            put_100_call, dataset=dataset, namespace=namespace, key_of=lambda n: f"fresh{n}"
        ),
        "put 100 overwriting": partial(
            put_100_call, dataset=dataset, namespace=namespace, key_of=stored
        ),
    }
    for shape, make in makers.items():
        samples = interleaved({c.name: make(c) for c in contenders}, seconds=seconds)
        for name, sample in samples.items():
            yield Row(
                shape=shape,
                size=dataset.size,
                contender=name,
                temperature="interleaved",
                sample=sample,
                vectors=dataset.source.name,
            )
