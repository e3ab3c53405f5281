"""Experiments side by side: read from several results directories, and said in words."""
