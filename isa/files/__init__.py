"""Specifications on disk and built in: grammar, JSON form, library, several in one system."""
