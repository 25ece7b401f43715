"""How runs, branches and decisions are put into lines: pure functions to documents, no widgets."""
