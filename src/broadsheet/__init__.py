"""Broadsheet: a research reader's own paper."""
