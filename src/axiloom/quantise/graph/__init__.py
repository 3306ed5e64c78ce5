"""The integer graph: its nodes, its numbers, how it is executed, and how a float graph becomes one."""
