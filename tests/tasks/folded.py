"""Are the tasks of jobs on folded tori neighbours where they should be? folded.py TASKS.csv EXTENTS WRAP SHAPE...; prints the jobs' boxes."""
import csv
import math
import sys

extents = [int(e) for e in sys.argv[2].split(",")]
wrap = [w == "true" for w in sys.argv[3].split(",")]
with open(sys.argv[1]) as file:
    nodes = [int(row["node"]) for row in csv.DictReader(file)]


def spread(number, sizes):
    """The coordinates of a number, the first running fastest."""
    at = []
    for size in sizes:
        at.append(number % size)
        number //= size
    return at


def apart(a, b):
    links = 0
    for x, y, extent, ring in zip(a, b, extents, wrap):
        links += min(abs(x - y), extent - abs(x - y)) if ring else abs(x - y)
    return links


first, boxes, used = 0, [], set()
for shape in ([int(s) for s in word.split(",")] for word in sys.argv[4:]):
    places = [spread(node, extents) for node in nodes[first:first + math.prod(shape)]]
    for task, place in enumerate(places):
        used.add(tuple(place))
        at = spread(task, shape)
        for i, size in enumerate(shape):
            step = math.prod(shape[:i])
            if size > 1 and apart(place, places[task + step * ((at[i] + 1) % size - at[i])]) != 1:
                sys.exit(f"task {task} and the next one in dimension {i} are no neighbours")
    boxes.append("x".join(str(len({place[i] for place in places})) for i in range(len(extents))))
    first += len(places)
if len(used) != first:
    sys.exit("a node has two tasks")
print(" ".join(boxes))
