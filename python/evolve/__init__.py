"""evolve is a program, and no Python: this module only knows where pip has put it."""

import os
import sys


def main():
    """Becomes evolve (same process, same arguments)."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "evolve")
    os.execv(program, [program, *sys.argv[1:]])
