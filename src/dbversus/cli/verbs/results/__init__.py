"""Verbs that read stored results."""
