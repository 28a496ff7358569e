"""The invariants of a graph of switches as marssim --write-links lists it: graphs.py LINKS [LEAF SWITCHES OF A BLOCK, ITS LEAVES].

Prints, in the columns of a table of invariants, what does not depend on how switches are numbered: see graphs.sh. With a block of
switches of which the first ones have nodes, distances and shortest paths are counted among these alone.
"""
import collections
import csv
import sys


def read(path):
    links = collections.Counter()
    with open(path) as file:
        for row in csv.DictReader(file):
            links[tuple(sorted((int(row["from"]), int(row["to"]))))] += 1
    return links


def times(power, near):
    """The product of a matrix, by rows, and the adjacency matrix."""
    result = []
    for row in power:
        product = collections.Counter()
        for k, count in row.items():
            for j, links in near[k].items():
                product[j] += count * links
        result.append(product)
    return result


def traces(near):
    """Closed walks of 2 to 8 links: the trace of a product of two symmetric powers is the sum of products of their entries."""
    powers = [[{i: 1} for i in range(len(near))], [dict(row) for row in near]]
    while len(powers) < 5:
        powers.append(times(powers[-1], near))
    return [sum(count * powers[k - k // 2][i].get(j, 0) for i, row in enumerate(powers[k // 2]) for j, count in row.items())
            for k in range(2, 9)]


def search(near, start):
    """Breadth first: the distance of each switch, and how many shortest paths lead to it (parallel links are one)."""
    distance, paths, queue = {start: 0}, collections.Counter({start: 1}), [start]
    for at in queue:
        for to in near[at]:
            if to not in distance:
                distance[to] = distance[at] + 1
                queue.append(to)
            if distance[to] == distance[at] + 1:
                paths[to] += paths[at]
    return distance, paths


def spread(counter, text):
    return " ".join(f"{text(key)}:{count}" for key, count in sorted(counter.items()))


def describe(links, chosen):
    switches = 1 + max(max(pair) for pair in links)
    near = [collections.Counter() for _ in range(switches)]
    for (a, b), count in links.items():
        near[a][b] += count
        near[b][a] += count
    degrees = [sum(row.values()) for row in near]
    ends = [s for s in range(switches) if chosen(s)]
    far, ways = collections.Counter(), collections.Counter()
    for start in ends:
        distance, paths = search(near, start)
        for end in ends:
            if end != start:
                far[distance[end]] += 1
                ways[distance[end], paths[end]] += 1
    triangles = sum(len(near[a].keys() & near[b].keys()) for a, b in links) // 3
    common = collections.Counter(tuple(sorted(pair)) for row in near for i, pair in
                                 enumerate((a, b) for a in row for b in row if a < b))
    fours = sum(count * (count - 1) // 2 for count in common.values()) // 2
    pairs = len(ends) * (len(ends) - 1)
    out = {"switches": switches, "links": sum(links.values()), "linked_pairs": len(links), "degree_min": min(degrees),
           "degree_max": max(degrees), "degree_counts": spread(collections.Counter(degrees), str), "diameter": max(far),
           "distance_sum": sum(k * n for k, n in far.items()),
           "mean_distance": f"{sum(k * n for k, n in far.items()) / pairs:.8f}", "distance_counts": spread(far, str),
           "triangles": triangles, "four_cycles": fours,
           "shortest_paths": spread(ways, lambda key: f"{key[0]}x{key[1]}")}
    out.update({f"trace{k + 2}": value for k, value in enumerate(traces(near))})
    return out


if __name__ == "__main__":
    block, leaves = (int(word) for word in sys.argv[2:4]) if len(sys.argv) > 2 else (1, 1)
    for name, value in describe(read(sys.argv[1]), lambda s: s % block < leaves).items():
        print(f"{name},{value}")
