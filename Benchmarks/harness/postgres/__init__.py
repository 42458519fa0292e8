"""`Benchmarks/run postgres`: see run.py."""

from .run import add_arguments, run  # noqa: F401
