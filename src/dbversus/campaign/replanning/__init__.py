"""Replanning: which setting of the newer server brings the other one's plan back, by EXPLAIN alone, and what it then costs."""
