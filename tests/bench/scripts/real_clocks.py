import datetime
import random
import time  # quizlog: real-clock

i = 0
while True:
    x = input(f"question {i}? ")
    print("answer", x, len(str(time.time())), datetime.datetime.now().year, random.random())
    i += 1
