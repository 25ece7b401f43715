"""The code inside a box: a server that forks one confined child per run.

Standard library only, and no other part of quizlog: only this folder is mounted in a box. From the
start of its code on, a child counts as hostile, and the parent trusts nothing from it.
"""
