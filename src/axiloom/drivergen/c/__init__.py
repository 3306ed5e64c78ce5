"""The last stage: IR to C99, and the `Driver` that is delivered."""
