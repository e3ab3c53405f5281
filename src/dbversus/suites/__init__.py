"""Suites of tests: TOML files, read, checked and turned into what the engine is told. The format: docs/suites.md."""

from dbversus.suites.load import list_suites, load_suite
from dbversus.suites.model import GROUP_TITLES, LOAD, Load, Phase, Statement, Suite, Test
from dbversus.suites.profiles import Profile, list_profiles, load_profile, profile_choices, profile_defaults
from dbversus.suites.send.define import definition, literal_statement, loads

__all__ = [
    "GROUP_TITLES",
    "LOAD",
    "Load",
    "Phase",
    "Profile",
    "Statement",
    "Suite",
    "Test",
    "definition",
    "list_profiles",
    "list_suites",
    "literal_statement",
    "load_profile",
    "load_suite",
    "loads",
    "profile_choices",
    "profile_defaults",
]
