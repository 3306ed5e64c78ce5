"""What a run reports: as a table, as JSON, as a page, and as a timeline for Perfetto."""
