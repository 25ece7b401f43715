"""Pure functions that turn runs into documents, for several screens; no widgets."""
