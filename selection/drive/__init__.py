"""Drivers in C for programs of commands, and their runs on the simulated SoC."""
