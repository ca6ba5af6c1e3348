"""Webhooks: each event of the feed is sent to an address, signed, until the receiver has it."""
