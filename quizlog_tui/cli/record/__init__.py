"""Commands for one record: moves, branches, steps, remarks, exports."""
