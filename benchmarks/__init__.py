"""Benchmarks: each measures both of its sides in one run and prints the ratio. ``make bench`` runs all."""
