"""Metrics: counts and times of requests, as Prometheus reads them. No label holds what somebody said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds."""

Labels = tuple[str, str]
"""Method and route."""


class Metrics:
    """The figures of one server. One event loop counts."""

    def __init__(self) -> None:
        self.under_way = 0
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._refused: dict[str, int] = defaultdict(int)
        self._within: dict[Labels, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: dict[Labels, float] = defaultdict(float)

    def count(self, method: str, route: str, status: int, seconds: float, kind: str | None) -> None:
        """Count a request that was answered; ``kind`` is the problem it was refused with."""
        self._requests[method, route, status] += 1
        self._seconds[method, route] += seconds
        place = next((n for n, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))
        self._within[method, route][place] += 1
        if kind is not None:
            self._refused[kind] += 1

    def text(self, gauges: Mapping[str, float]) -> str:
        """Return all of it in Prometheus' text format, with some figures of the file."""
        return "\n".join([*self._lines(gauges), ""])

    def _lines(self, gauges: Mapping[str, float]) -> Iterator[str]:
        yield "# HELP langmemory_requests_total Requests that were answered."
        yield "# TYPE langmemory_requests_total counter"
        for (method, route, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"langmemory_requests_total{{{labels}}} {count}"
        yield "# HELP langmemory_refused_total Requests that were refused, by problem."
        yield "# TYPE langmemory_refused_total counter"
        for kind, count in sorted(self._refused.items()):
            yield f'langmemory_refused_total{{problem="{kind}"}} {count}'
        yield "# HELP langmemory_request_seconds Time to answer a request."
        yield "# TYPE langmemory_request_seconds histogram"
        for (method, route), counts in sorted(self._within.items()):
            labels, below = f'method="{method}",route="{route}"', 0
            for most, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
                below += count
                yield f'langmemory_request_seconds_bucket{{{labels},le="{most}"}} {below}'
            yield f"langmemory_request_seconds_sum{{{labels}}} {self._seconds[method, route]:.6f}"
            yield f"langmemory_request_seconds_count{{{labels}}} {below}"
        yield "# TYPE langmemory_requests_under_way gauge"
        yield f"langmemory_requests_under_way {self.under_way}"
        for name, value in gauges.items():
            yield f"# TYPE langmemory_{name} gauge"
            yield f"langmemory_{name} {value:g}"
