"""Attacks by quiz scripts on the machine that replays them."""
