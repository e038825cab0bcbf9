"""The trainers that evolve starts as its workers (`python3 -m evolve.ultralytics`), and what `evolve export` writes with."""
