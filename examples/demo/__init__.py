"""The main job: one small transformer, trained twice on real conversations.

`python -m examples.demo` (or `make demo`) starts two ranks on this machine, trains with fixed
batches and then with `dgap.runtime.DynamicBatchLoader` from the same initial weights on the same
conversations, and compares. Read in this order: `settings`, `conversations`, `batches`,
`training`, `report`.
"""
