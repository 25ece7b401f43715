"""What a script knows at a step: variables, stack, expressions, lines.

Every look is at a process that is thrown away afterwards, so that it changes no run, record or
transcript. `inspection` gets such a process and has the data, `watching` takes one through all
steps; `inside` is the code that runs in it, behind `values`, `tables`, `raised`, `lines` and
`plain`. Nothing here shows anything.
"""
