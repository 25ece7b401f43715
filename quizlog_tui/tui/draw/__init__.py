"""Pure functions that turn runs, branches and decisions into documents; no widgets."""
