"""The passes in their order (``compile.py``), and the choice of tiles that runs some of them
(``conv_choice.py``)."""
