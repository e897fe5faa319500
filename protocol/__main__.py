"""`python -m dgap.protocol` prints the reference page of the transition table."""

from __future__ import annotations

import sys

from .diagram import reference_page
from .table import TABLE

sys.stdout.write(reference_page(TABLE))
