"""Specifications: checked, shown, and drafted from RTL."""
