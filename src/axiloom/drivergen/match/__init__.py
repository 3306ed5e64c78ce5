"""Which ops an accelerator can execute: matchers, and the trait that they leave on an op.

``by_hand.py`` checks traits that a user wrote, ``foreign.py`` asks accelerators for those of other tools.
``registers.py`` is about accesses to the device's registers.
"""
