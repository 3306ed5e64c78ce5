"""The scheduled program as IR in xDSL, with an interpreter.

- ``build.py``: a schedule, by isl's AstBuild, to ``affine.for``, ``affine.if``, loads and stores
- ``attributes.py``: what is said of loops and arrays; ``dialect.py``: our one op; ``operations.py``:
  operators of programs and operations of `arith` and `math`, both ways; ``walk.py``: reading such IR
- ``interpret.py``: `interpret`, which runs any of them; ``c_code.py``, ``c_forms.py``, ``c_numbers.py``,
  ``c_exp.py``, ``compiled.py``:
  how, by C; ``oracle.py``: the same slowly, with no code in common
"""
