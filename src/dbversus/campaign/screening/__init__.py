"""Screening: which of the settings that differ between two configs make the change between them (docs/campaigns.md)."""
