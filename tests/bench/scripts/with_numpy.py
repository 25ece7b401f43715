import numpy as np
import numpy.random

i = 0
while True:
    x = input(f"question {i}? ")
    print("answer", x, np.random.rand())
    i += 1
