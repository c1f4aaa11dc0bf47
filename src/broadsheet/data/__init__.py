"""Data shipped with the package: ``sample.jsonl``, 139 papers with summaries written for this project."""
