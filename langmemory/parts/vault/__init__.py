"""The vault: secrets are encrypted before they reach the database, and nothing shows one by accident."""

from langmemory.parts.vault.keys import Passphrase, VaultKey
from langmemory.parts.vault.secret import Secret

__all__ = ["Passphrase", "Secret", "VaultKey"]
