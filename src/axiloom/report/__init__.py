"""What a run reports: as a table, as JSON, as a page, and as a timeline for Perfetto.

:mod:`~axiloom.report.proved` has the line on what is proved of its accelerators.
"""
