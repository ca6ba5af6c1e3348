"""The vault of a remote store."""

from __future__ import annotations

from langmemory.namespaces import check_namespace
from langmemory.parts.vault.secret import Secret
from langmemory.remote.derived import RemoteRoom
from langmemory.steps import Steps, awaiting, blocking
from langmemory.types import Namespace


class RemoteVault(RemoteRoom):
    """Secrets: their labels, who unlocked them, and unlocking one with a token that may."""

    __slots__ = ()

    def _get(
        self,
        namespace: Namespace,
        label: str,
        *,
        reason: str,
        owner: str | None = None,
        version: int | None = None,
    ) -> Steps[Secret]:
        """Unlock a secret. The server's audit log has the reason and the token before this returns.

        Raises:
            AccessError: The token may not.
            SecretNotFoundError: There is none, or it was deleted.
        """
        body = {
            "namespace": check_namespace(namespace), "label": label, "reason": reason, "owner": owner,
            "version": version,
        }  # fmt: skip
        # It is sent without an Idempotency-Key: no answer with a secret is kept.
        answer = yield from self._ask("POST", "/vault/unlock", dict[str, str], body=body)
        return Secret(answer["secret"])

    get, aget = blocking(_get), awaiting(_get)
