"""The bring-up ladder: its program, and what its upper steps compute."""
