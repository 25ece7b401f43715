"""A realistic quiz server: pages made by scripts, a strict grader, and an adjustable clock."""
