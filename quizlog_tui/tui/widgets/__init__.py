"""One widget a module. Widgets draw what they are given and post messages; they call no session."""
