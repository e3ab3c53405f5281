"""Calibrations: experiments of a build with copies of itself, some slowed down, and what comes of them."""
