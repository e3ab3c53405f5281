"""Tests of `dbversus import`."""
