"""Specifications on disk and built in: grammar, JSON form, library, several in one system.

``other_forms.py`` reads files of forms that accelerators bring.
"""
