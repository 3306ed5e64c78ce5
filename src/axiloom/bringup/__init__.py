"""The bring-up ladder: its program, what its upper steps compute, and the faults that it must find."""
