"""Models on their way in, and what is built of them without a run of the SoC."""
