"""Mental arithmetic: five sums from the seed, a partial score for how far one gets."""

import random

print("Five sums. Whole numbers, no calculator.")
right = 0
for number in range(1, 6):
    a, b = random.randint(2, 12), random.randint(2, 12)
    sign = random.choice("+-*")
    expected = {"+": a + b, "-": a - b, "*": a * b}[sign]
    answer = input(f"{number}. {a} {sign} {b} = ")
    if not answer.strip().lstrip("-").isdigit():
        raise Exception(f"{answer!r} is not a whole number")  #score = 0
    if int(answer) != expected:
        if right >= 3:
            raise Exception(f"{a} {sign} {b} is not {answer}, after {right} right")  #score = 0.6
        raise Exception(f"{a} {sign} {b} is not {answer}")  #score = 0.2
    right += 1
    print("Right.")
print("All five are right.")
