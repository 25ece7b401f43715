"""Reading a table: questions about the file that lies beside this script."""

import csv
from statistics import mean

with open("rainfall.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))

print(f"rainfall.csv has {len(rows)} rows: {', '.join(rows[0])}")
for row in rows[:3]:
    print("  ", row["month"], row["station"], row["millimetres"])
print("   ...")

stations = sorted({row["station"] for row in rows})
count = input("How many stations are there? ")
if not count.isdigit() or int(count) != len(stations):
    raise Exception(f"{count!r} stations are not what the file holds")

wettest = max(stations, key=lambda s: sum(float(r["millimetres"]) for r in rows if r["station"] == s))
if input(f"Which had most rain? ({'/'.join(stations)}) ").strip() != wettest:  #radio
    raise Exception("another station had more")  #score = 0.3

average = mean(float(r["millimetres"]) for r in rows if r["station"] == wettest)
if abs(float(input(f"What is the mean of {wettest} in millimetres, to one decimal? ")) - average) > 0.05:
    raise Exception(f"the mean of {wettest} is something else")  #score = 0.6

why = input("Say in a sentence what you would look at next. ")  #textarea #rows=4
if len(why.split()) < 3:
    raise Exception("a sentence has at least three words")  #score = 0.9
print("Thank you. Your remark:", why)
