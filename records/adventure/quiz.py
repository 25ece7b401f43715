"""A small text adventure: three rooms, a lamp, and several ways to lose."""

items = set()
room = "hall"


def look():
    print({
        "hall": "You stand in a dusty hall. A door leads north, stairs lead down.",
        "library": "A library. A brass lamp stands on the desk. The hall is south.",
        "cellar": "The cellar. Something glitters behind an iron gate. Stairs lead up.",
    }[room])


def go(direction):
    global room
    ways = {
        ("hall", "north"): "library",
        ("library", "south"): "hall",
        ("hall", "down"): "cellar",
        ("cellar", "up"): "hall",
    }
    if (room, direction) not in ways:
        print("You cannot go there.")
        return
    if ways[room, direction] == "cellar" and "lamp" not in items:
        raise Exception("It is pitch dark. You fall down the stairs.")  #score = 0.2
    room = ways[room, direction]
    look()


look()
while True:
    command = input("What do you do? (north/south/up/down/take/open) ").strip().lower()
    if command in ("north", "south", "up", "down"):
        go(command)
    elif command == "take" and room == "library" and "lamp" not in items:
        items.add("lamp")
        print("You take the lamp. It still burns.")
    elif command == "open" and room == "cellar":
        break
    else:
        print("Nothing happens.")

print("A rusty lock with a riddle: I have cities but no houses, and rivers but no water.")
if "map" not in input("What am I? ").lower():
    raise Exception("The gate stays shut.")  #score = 0.7
if input("The gate opens on a heap of gold. Do you take all of it? (yes/no) ") == "yes":
    raise Exception("The ceiling comes down on the greedy.")  #score = 0.9
print("You take one coin and walk out, rich enough.")
