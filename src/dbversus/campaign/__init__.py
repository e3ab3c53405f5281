"""Campaigns: experiments decided from the verdicts of earlier ones (docs/campaigns.md)."""
