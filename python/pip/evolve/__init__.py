"""Where pip has put evolve, which is a program. Its trainers in Python lie with it, in share/."""

import os
import sys


def main():
    """Becomes evolve (same process, same arguments), which starts its workers with this Python unless told otherwise."""
    if not os.environ.get("EVOLVE_PYTHON"):
        os.environ["EVOLVE_PYTHON"] = sys.executable
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "evolve")
    os.execv(program, [program, *sys.argv[1:]])
