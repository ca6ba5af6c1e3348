"""The tree of summaries: days, weeks, months, years and themes of a namespace, each citing its children."""
