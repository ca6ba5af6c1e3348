"""Packages beside memory itself; `langmemory.hooks` names what each registers. Nothing else imports them."""
