"""The task that distils the months of the journal that are over."""

from __future__ import annotations

from langmemory.maintenance.night import Night
from langmemory.maintenance.task_report import TaskReport
from langmemory.pluralize import counted
from langmemory.projections.journal import JournalFiles, distilled_through


def journal(night: Night, report: TaskReport) -> None:
    """Let one page stand for each month of the journal that is over, with its days in the archive. No memory
    changes: the store notes which months these are, and the files follow."""
    folder = night.store.config.journal.path
    if folder is None:
        report.refused.append("there is no journal: journal.path is not set")
        return
    pages = night.store.journal
    through = distilled_through(night.config.journal, night.now())
    months = pages.distil(night.prefix, through=through, dry_run=night.dry_run)
    report.figures["months"] = len(months)
    for (namespace, month), days in months.items():
        verb = "moved back" if through is None else "distilled"
        days_there = (
            f"its {counted(days, 'day')}, {'from' if through is None else 'in'} archive/{month}"
        )
        report.told.append(f"{verb}: {'/'.join(namespace)}/{month}.md ({days_there})")
    if night.dry_run:
        return
    try:
        files = JournalFiles(folder)
        if files.folder not in pages.folders() or not files.folder.is_dir():  # never written yet
            report.figures["written"] = files.rebuild(pages)
    except OSError as error:
        report.refused.append(f"{folder} cannot be written to: {error.strerror}")
    if not pages.follow():
        report.refused.append("some pages could not be written; the log says which, and what to do")
