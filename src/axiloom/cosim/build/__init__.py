"""Programs that a run needs, built once for each content: RTL in a simulator, C for the host's CPU.

``toolchain.py`` is the cross compiler with the runtime, for sources that Axiloom writes, ``libc.py`` the C
library of Linux programs; ``user_code.py`` compiles a user's C and C++, ``bsp.py`` against the vendor's API.
"""
