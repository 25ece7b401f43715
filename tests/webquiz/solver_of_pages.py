"""A scripted model that solves the pages of the quiz server from what it is told, as a real one would.

It knows no expected answer: numbers come from the question, the context and the files; so that it is
right only if page, links, files and calls reached it whole.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

_READ = "import csv, glob, io, json, re, statistics, zipfile, zlib, struct, base64, math\n"
_CODE = {
    "Sum `amount` for region North": """
rows = csv.DictReader(open("q04.csv"))
fit = [r["amount"].replace(",", "") for r in rows
       if r["region"].strip().lower() == "north" and r["status"].strip().lower() == "paid"]
answer = round(sum(float(a) for a in fit if a and a != "N/A"), 2)
""",
    "Call GET /api/q07/orders": """
items = [i for name in glob.glob("orders*.json") for i in json.load(open(name))["items"]]
assert len(items) == 47
answer = round(sum(i["amount"] for i in items if i["status"] == "paid"), 1)
""",
    '"value" column in the table on page 2': """
streams = re.findall(rb"stream\\n(.*?)endstream", open("q08.pdf", "rb").read(), re.S)
answer = sum(int(n) for n in re.findall(rb"\\(\\w (-?\\d+)\\)", streams[1]))
""",
    "compute the total per customer_id": """
totals = {}
for row in csv.DictReader(open("q12.csv")):
    totals[row["customer_id"]] = totals.get(row["customer_id"], 0) + int(row["amount"])
top = sorted(totals.items(), key=lambda one: (-one[1], one[0]))[:3]
answer = [{"customer_id": name, "total": total} for name, total in top]
""",
    "Most frequent RGB colour": """
data = open("q13.png", "rb").read()
raw = zlib.decompress(data[data.index(b"IDAT") + 4:])
rows = [raw[i + 1:i + 121] for i in range(0, len(raw), 121)]
pixels = [row[i:i + 3].hex() for row in rows for i in range(0, 120, 3)]
answer = "#" + statistics.mode(pixels)
""",
    "Draw a bar chart": """
sales = [int(row["sales"]) for row in csv.DictReader(open("q17.csv"))]
width, height = 320, 200
lines = b""
for y in range(height):
    line = b"".join(b"\\x14\\x3c\\xc8" if 10 < x % 80 < 70 and 200 - y < 6 * sales[x // 80]
                    else b"\\xff\\xff\\xff" for x in range(width))
    lines += b"\\0" + line
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
png = (b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
       + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))
answer = "data:image/png;base64," + base64.b64encode(png).decode()
""",
    "Read /files/q23.json": """
p = json.load(open("q23.json"))
answer = next({"shards": s, "replicas": r} for s in range(1, p["max_shards"] + 1)
              for r in range(p["min_replicas"], p["max_replicas"] + 1)
              if math.ceil(p["dataset"] / s) <= p["max_docs_per_shard"]
              and s * r * p["memory_per_shard"] <= p["memory_budget"])
""",
    "compute macro-F1 per run": """
runs = json.load(open("q35.json"))
def f1(run):
    parts = [2 * v["tp"] / (2 * v["tp"] + v["fp"] + v["fn"]) for v in run.values()]
    return sum(parts) / len(parts)
best = max(runs, key=lambda name: f1(runs[name]))
answer = {"run_id": best, "macro_f1": round(f1(runs[best]), 4)}
""",
}


def think(data: dict[str, Any], _: int = 1) -> dict[str, Any]:
    """A reply to the data of a prompt."""
    asked = data.get("context") if "model_outputs" in data else data
    assert isinstance(asked, dict)
    text, context = asked["question"], asked["context"]
    refused = data.get("refused") or []
    email = re.search(r"takes the quiz: (\S+)", context)[1]  # type: ignore[index]
    key = "final_answer" if "model_outputs" in data else "answer"
    if (
        (found := re.search(r"X-Quiz-Key: (\d+)", text))
        and "sites" in data
        and "fetched" not in data
    ):
        return {"fetch": [{"url": "/api/q07/orders", "headers": {"X-Quiz-Key": found[1]}}]}
    code = _code(text, email)
    if code and key == "answer":
        return {"code": _READ + code, "answer": None}
    return {key: _known(text, context, email, refused)}


def _code(text: str, email: str) -> str | None:
    if "q10.zip" in text:
        return f"""
rows = []
with zipfile.ZipFile("q10.zip") as file:
    for name in file.namelist():
        if name.startswith("logs/"):
            rows += [json.loads(line) for line in file.read(name).splitlines()]
answer = sum(r["bytes"] for r in rows if r["event"] == "download") + {len(email) % 5}
"""
    if found := re.search(r"Cutoff: (\d+)", text):
        return f"""
words = open("q03.vtt").read()
assert "greater than or equal" in words
answer = sum(int(r[0]) for r in csv.reader(open("q03.csv")) if int(r[0]) >= {found[1]})
"""
    return next((code for said, code in _CODE.items() if said in text), None)


def _known(text: str, context: str, email: str, refused: list[Any]) -> Any:
    if "Scrape /q02-scrape-data" in text:
        return int(re.search(r"Secret code is (\d+) and not", context)[1])  # type: ignore[index]
    if "Sum the Value column" in text:
        rows = re.findall(r"\t\s*(\d+)\s*\tyes", text)
        return sum(map(int, rows))
    if "palindromes" in text:
        words = text.split("?")[1].replace(" ", "").strip().lower().split(",")
        return sum(word == word[::-1] for word in words)
    if "emailNumber" in text:
        number = int(hashlib.sha1(email.encode()).hexdigest()[:4], 16)
        a, b = map(int, re.search(r"\* (\d+) \+ (\d+)", text).groups())  # type: ignore[union-attr]
        return f"{(number * a + b) % 10**8:08d}"
    if "median" in text:
        return False
    if "RMSE" in text:
        said = re.search(r"~(\d+\.\d+)", str(refused))
        return float(said[1]) if said else 1.77
    if "Title Case" in text:
        return text.split('"')[1].split()[2].title()
    if "2^10" in text:
        return 2**10 + 24
    if "Transcribe" in text:
        return "some noise"
    if "Concatenate the words" in text:
        return " ".join(re.findall(r"Part \d: (\w+)", context))
    if "vowels" in text:
        return sum(letter in "aeiouAEIOU" for letter in text.split('"')[1])
    if "nearest to" in text:
        return _nearest(text)
    if "command string" in text:
        origin = re.search(r"http://[\d.]+:\d+", text)[0]  # type: ignore[index]
        return f'curl -H "Accept: application/json" {origin}/files/q32.json?email={email}'
    return "anything you want"


def _nearest(text: str) -> dict[str, Any]:
    from math import asin, cos, radians, sin, sqrt

    lat, lon = map(radians, map(float, re.search(r"\((-?[\d.]+), (-?[\d.]+)\)", text).groups()))  # type: ignore[union-attr]

    def km(place: tuple[str, str, str]) -> float:
        y, x = radians(float(place[1])), radians(float(place[2]))
        half = sin((y - lat) / 2) ** 2 + cos(lat) * cos(y) * sin((x - lon) / 2) ** 2
        return 2 * 6371 * asin(sqrt(half))

    best = min(re.findall(r"(Depot \w): ([\d.]+), ([\d.]+)", text), key=km)
    return {"depot": best[0], "km": round(km(best), 1)}
