"""Order and addresses of a program's values, by constraints (OR-tools CP-SAT, the extra [select]).

- ``problem.py``: memories, values, steps; the plan that comes out
"""
