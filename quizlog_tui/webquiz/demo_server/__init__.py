"""A quiz server as real ones are: pages made by scripts, a strict grader, a clock one can turn."""
