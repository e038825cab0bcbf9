"""python -m evolve"""

from evolve import main

main()
