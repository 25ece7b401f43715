"""Quizzes that tests of the screens share."""

from __future__ import annotations

QUIZ = """
import random
print("Welcome to a short quiz.")
name = input("Your name? ")
print(f"Hello {name}.")
for i in range(3):
    a, b = random.randint(2, 9), random.randint(2, 9)
    answer = input(f"What is {a} * {b}? ")
    if answer != str(a * b):
        raise Exception(f"{a} * {b} is not {answer}")  #score = 0.5
    print("Right.")
print("Done.")
"""


EVIL = "[/nope] [@click=app.quit]go[/] [$x]y[/] \x1b]0;owned\x07 \x9b31m \u202e \u2028 \x85 \x00 d['k'] = [/]"
