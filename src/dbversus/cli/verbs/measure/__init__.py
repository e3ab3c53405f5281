"""Verbs that drive servers."""
