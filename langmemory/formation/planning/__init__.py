"""From verdicts to a change set: what is approved, what is asked, what is written."""
