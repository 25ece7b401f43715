"""What runs inside a box: a server that forks one confined child per run.

Standard library only, nothing else of ours: in a box only this folder is mounted. Everything the
child does after its code has started counts as hostile; the parent believes none of it.
"""
