"""The co-simulation: its speed, its likeness to boards, what it finds, and what moves of modules change."""
