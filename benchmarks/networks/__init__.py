"""Networks and applications: on their way in, in integers, and in the accelerators' own numbers."""
