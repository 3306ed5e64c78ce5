"""How messages speak of names and numbers: "did you mean", lists, long texts cut short."""
