"""The protocol: one transition table and its small interpreter. Standard library only."""
