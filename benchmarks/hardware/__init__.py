"""What accelerators take of a part, how fast they are clocked, and how busy array and streams are."""
