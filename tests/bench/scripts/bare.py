i = 0
while True:
    x = input(f"question {i}? ")
    print("answer", x)
    i += 1
