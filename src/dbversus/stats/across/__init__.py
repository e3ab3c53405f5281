"""Findings taken together: over numbers of clients, sizes, generations, and experiments."""
