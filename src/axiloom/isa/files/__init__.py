"""Specifications on disk and built in: grammar, JSON form, library, several in one system.

``other_forms.py`` reads the paper's files (``paper_form.py``) and older ones (``flat_form.py``); ``waits.py``
is about opcodes of theirs that only receive.
"""
