"""What a script knows at a step: variables, stack, expressions, lines.

Every look is at a process that is thrown away afterwards, so that it changes no run, record or
transcript. `look` gets such a process; `inside` is the code that runs in it; `snapshot` has the
data. Nothing here shows anything.
"""
