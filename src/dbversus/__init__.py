"""Did my database get slower, where, by how much, and why?"""

__version__ = "0.1.0"
