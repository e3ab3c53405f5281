"""Servers that are processes of their own: started, watched, ended."""
