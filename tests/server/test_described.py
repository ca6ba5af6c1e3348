"""The API answers as its OpenAPI document says, whatever is sent: schemathesis tries it."""

from __future__ import annotations

import os
from typing import Any, Final

import pytest

from tests.server.client import API
from tests.server.secret_world import fill

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

from hypothesis import HealthCheck, settings  # noqa: E402  # isort: skip
from schemathesis.config import SchemathesisConfig  # noqa: E402  # isort: skip

from langmemory.server.app import create_app  # noqa: E402  # isort: skip
from langmemory.stores import MemoryStore  # noqa: E402  # isort: skip

pytestmark = pytest.mark.thorough

EXAMPLES: Final = int(os.environ.get("LANGMEMORY_EXAMPLES", "20"))
"""Requests of one operation."""

MANY: Final = EXAMPLES > 100
"""Then also requests that cover each limit and each mistake of the schema, and others with each run."""

STORE: Final = MemoryStore(":memory:", index=False)
fill(STORE)  # so that answers hold something
APP: Final = create_app(STORE)
APP.state.service.store = STORE  # schemathesis runs no lifespan
TOKEN: Final = STORE.tokens.create(scope="admin", namespaces=[("memories",)], agent="helper")[1]
HEADERS: Final = {"Authorization": f"Bearer {TOKEN}", "Host": "localhost"}

CONFIG: Final = SchemathesisConfig.from_dict(
    {
        "phases": {"coverage": {"enabled": MANY}},  # some hundred requests of each operation
        "checks": {
            # A schema cannot say which filter, pattern, cursor or namespace there is.
            "positive_data_acceptance": {
                "expected-statuses": ["2xx", "400", "401", "403", "404", "409", "412", "422"]
            }
        },
    }
)
SCHEMA: Final = schemathesis.openapi.from_asgi(
    f"{API}/openapi.json", APP, config=CONFIG, headers={"Host": "localhost"}
)


@schemathesis.serializer("application/x-ndjson")  # type: ignore[untyped-decorator]
def json_lines(_: Any, value: Any) -> bytes:
    """Return the body of an import as it is sent."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@SCHEMA.parametrize()
@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=not MANY,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
def test_every_answer_is_as_described(case: Any) -> None:
    """No request makes the server fail; status, media type and body of each answer are as described; what
    the document does not allow is refused."""
    case.validate_response(case.call(headers=HEADERS))
