"""Explorer, solver obligations and manifest over the one transition table."""
