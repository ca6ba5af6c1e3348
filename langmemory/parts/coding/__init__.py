"""Coding agents: what their hooks run, what memory answers them, and one adapter for each program.

`client` is what a hook starts; it imports nothing heavy and hands each event to the resident process of
`resident`, which keeps a store open. `answering` turns events into a block or turns. Each program is one
module that reads its payloads, writes its answers, and knows its configuration (`programs` lists them);
`settings_file` edits JSON with comments so that it can be put back byte for byte.
"""
