"""Whether a program computes its application: said of each program, by nothing that made it.

- ``elements.py``: `Elements`: integers for elements; equal integers, equal elements
- ``graphs.py``: a graph's results as elements; ``contract.py``: sums of products in one form, whatever
  operation they were written as
- ``replay.py``: a program's commands on memories of such elements; ``numbers.py``: on numbers, by the text
- ``validate.py``: `validate`, both; ``verdict.py``: `Verdict`, what it says
- ``transfers.py``: `plan` of a program, checked: the same commands on the same bytes
- ``by_text.py``: `by_text`, of programs whose commands mean nothing alone: the text itself is executed, on
  ``polynomials.py`` of the inputs and on numbers
"""

from axiloom.selection.validate.by_text import by_text
from axiloom.selection.validate.validate import ProgramFaultError, Verdict, validate

__all__ = ["ProgramFaultError", "Verdict", "by_text", "validate"]
