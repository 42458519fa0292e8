"""`Benchmarks/run postgres`: see mode.py."""

from .mode import add_arguments, run  # noqa: F401
