"""Which ops an accelerator can execute: matchers, and the trait that they leave on an op."""
