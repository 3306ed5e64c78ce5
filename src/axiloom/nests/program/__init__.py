"""Programs of affine loop nests: what a user brings, whatever it was written in.

- ``expressions.py``: what a statement computes; ``program.py``: arrays, statements, programs; ``loaded.py``:
  a program with contents of arrays, and where it comes from; ``c_function.py``: the C it was read from
- ``builder.py``: programs in Python; ``values.py``: its expressions; ``names.py``: names, places of lines
- ``typed.py``: operators and their types; ``rewrite.py``: expressions with other parts; ``text.py``: for
  people
"""

from axiloom.nests.program.expressions import Expression, Index, Literal, Load, Op, loads
from axiloom.nests.program.program import Array, Program, Role, Statement

__all__ = ["Array", "Expression", "Index", "Literal", "Load", "Op", "Program", "Role", "Statement", "loads"]
