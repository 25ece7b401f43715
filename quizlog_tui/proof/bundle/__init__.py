"""Bundles: a record with everything needed to run it again elsewhere and offline, in one file."""
