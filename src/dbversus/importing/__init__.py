"""Results that other tools measured, read from their files into a results directory (docs/import.md)."""
