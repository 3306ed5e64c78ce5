"""Benchmarks: each measures both of its sides in one run and prints the ratio. ``make bench`` runs all.

A folder for each part that is measured, and one for each set of published programs or figures.
"""
