import datetime
import random
import time

i = 0
while True:
    x = input(f"question {i}? ")
    print("answer", x, len(str(time.time())), datetime.datetime.now().year, random.random())
    i += 1
