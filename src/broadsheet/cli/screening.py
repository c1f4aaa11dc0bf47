"""The commands of systematic reviews in one place; the modules of ``PARTS`` add theirs to the group ``screen``."""

from broadsheet.cli import screen, screen_desk, screen_files, screen_pool, screen_reports, simulate

PARTS = (screen_desk, screen_files, screen_pool, screen_reports)
COMMANDS = (screen.screen_, *simulate.COMMANDS)
