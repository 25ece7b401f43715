import time  # quizlog: real-clock

end = time.process_time() + 2
while time.process_time() < end:
    pass
i = 0
while True:
    x = input(f"question {i}? ")
    print("answer", x)
    i += 1
