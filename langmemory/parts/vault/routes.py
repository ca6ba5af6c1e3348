"""The vault over REST: labels, the audit log, and unlocking one secret with a reason."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from langmemory.declaring.fields import Fields, Labels, Positive
from langmemory.server.access import Access
from langmemory.server.problems import Problem
from langmemory.server.routes import Routes
from langmemory.wire import Deferred

routes = Routes("Vault")

SecretLabel = Annotated[str, Field(min_length=1, max_length=200)]
Owner = Annotated[str, Field(min_length=1, max_length=400)]


class Unlocking(Fields):
    """Which secret, and why."""

    namespace: Labels | None = None
    """Without it, what the token is bound to."""
    label: SecretLabel
    owner: Owner | None = None
    """Whose it is. Without it, the viewer's; for a token of the application, the application's."""
    version: Positive | None = None
    """An older one."""
    reason: Annotated[str, Field(min_length=3, max_length=500)]
    """What it is needed for; it goes into the audit log."""


class Unlocked(Deferred):
    """A secret in clear."""

    secret: str


@routes("POST", "/vault/unlock", scope="read")
def unlock_secret(access: Access, *, body: Unlocking) -> Unlocked:
    """Unlock one secret. The token must be allowed to, and the audit log keeps the reason."""
    access.grant.check_unlocks()
    if access.idempotency_key is not None:
        raise Problem("invalid", "An answer with a secret is not kept: leave out Idempotency-Key.")
    place = access.place(body.namespace, exact=True)
    secret = access.store.vault.get(
        place, body.label, owner=body.owner, version=body.version, reason=body.reason,
        by=f"token {access.grant.id}",
    )  # fmt: skip
    return Unlocked(secret=secret.reveal())
