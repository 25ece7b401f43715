heap = [[j] for j in range(3_000_000)]  # about 300 MB of small objects
i = 0
while True:
    x = input(f"question {i}? ")
    print("answer", x, heap[i][0])
    i += 1
