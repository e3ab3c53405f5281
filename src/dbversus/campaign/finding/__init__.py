"""Finding causes: what stored results cannot tell of their changes is measured on the same targets (docs/explain.md)."""
