"""Figures, words and SQL of each test."""
