"""What the upsurge that is measured can be told: options that not every build of it knows."""

import subprocess

from . import tools


class Features:
    """The options that choose a way of writing, empty where this upsurge has no such choice."""

    def __init__(self):
        done = subprocess.run([tools.upsurge(), "load", "--help-hidden"], capture_output=True, text=True)
        self.has_direct = "--direct" in done.stdout
        self.has_input_order = "--input-order" in done.stdout
        # By INSERT statements only; packed pages where the table allows it; never sorted before it is written.
        self.insert_path = ["--direct", "never"] if self.has_direct else []
        self.direct_path = ["--direct", "auto"] if self.has_direct else []
        self.input_order = ["--input-order"] if self.has_input_order else []
        self.single_rows = ["--rows-per-statement", "1", *self.insert_path, *self.input_order]
