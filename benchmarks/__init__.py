"""One command that compares dgap with what a user would pick instead (`make bench`).

Read in this order: `corpora` (whose lengths), `samples` (what is loaded), `kinds/` (by whom),
`cells` (how one run is isolated and timed), `measure` (what is computed from it), then the parts:
`loader_alone`, `quality`, `end_to_end`, `overlap`, `interference`, `collectives`, `kernel`.
"""
