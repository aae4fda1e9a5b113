"""Compares policies of eviction and admission by simulation: the share of requests that a cache serves, per trace, size
and policy. The optimum (Belady) knows the future, and a fixed subset never changes.

Usage: simulate.py [PLOT [NIGHTS]]

The traces are lists that are fetched once per night, with 2,000 images, and requests of a service: with the popularity
of Zipf, or with images that lose their popularity with age. All images have the same size. The order and the choice of
images come from a fixed seed. PLOT is the SVG file to write.
"""
import bisect
import collections
import heapq
import random
import sys


class LRU:
    """Evicts the least recently used image, as the disk cache does."""

    def __init__(self, capacity):
        self.capacity, self.kept = capacity, collections.OrderedDict()

    def request(self, key, _run):
        if key in self.kept:
            self.kept.move_to_end(key)
            return True
        self.kept[key] = True
        if len(self.kept) > self.capacity:
            self.kept.popitem(last=False)
        return False


class Fixed:
    """Keeps the first images forever."""

    def __init__(self, capacity):
        self.capacity, self.kept = capacity, set()

    def request(self, key, _run):
        if key not in self.kept and len(self.kept) < self.capacity:
            self.kept.add(key)
            return False
        return key in self.kept


class S3FIFO:
    """Two queues and a memory of evicted keys, as in the memory cache (Yang et al., SOSP 2023)."""

    def __init__(self, capacity):
        self.capacity, self.uses = capacity, {}
        self.small, self.main, self.ghosts = (collections.OrderedDict() for _ in range(3))

    def request(self, key, _run):
        if key in self.uses:
            self.uses[key] = min(3, self.uses[key] + 1)
            return True
        queue = self.main if self.ghosts.pop(key, None) else self.small
        queue[key], self.uses[key] = True, 0
        while len(self.uses) > self.capacity:
            self.evict()
        return False

    def evict(self):
        is_small = len(self.small) >= self.capacity // 10 or not self.main
        key, _ = (self.small if is_small else self.main).popitem(last=False)
        if self.uses[key] > 0:
            self.uses[key] = 0 if is_small else self.uses[key] - 1
            self.main[key] = True
            return
        del self.uses[key]
        if is_small:
            self.ghosts[key] = True
            if len(self.ghosts) > self.capacity:
                self.ghosts.popitem(last=False)


class ARC:
    """Adapts the shares of two lists to the hits among evicted keys (Megiddo and Modha, FAST 2003)."""

    def __init__(self, capacity):
        self.capacity, self.target = capacity, 0
        self.once, self.often, self.once_gone, self.often_gone = (collections.OrderedDict() for _ in range(4))

    def request(self, key, _run):
        for kept in (self.once, self.often):
            if kept.pop(key, None):
                self.often[key] = True
                return True
        gone, others = self.once_gone, self.often_gone
        if key in gone:
            self.target = min(self.capacity, self.target + max(1, len(others) // len(gone)))
        elif key in others:
            self.target = max(0, self.target - max(1, len(gone) // len(others)))
        is_known = bool(gone.pop(key, None) or others.pop(key, None))
        self.make_room()
        (self.often if is_known else self.once)[key] = True
        return False

    def make_room(self):
        if len(self.once) + len(self.often) >= self.capacity:
            is_once = self.once and len(self.once) > self.target or not self.often
            key, _ = (self.once if is_once else self.often).popitem(last=False)
            (self.once_gone if is_once else self.often_gone)[key] = True
        for gone in (self.once_gone, self.often_gone):
            if len(gone) > self.capacity:
                gone.popitem(last=False)


class ReuseAges:
    """The policy of both tiers, `ReusePolicy` in Swift: admits an image in place of another one only if it is more
    likely to be used again.

    The age of an image is the number of epochs since its last use. An epoch begins with a run, and whenever half as
    many images as fit were used in it. In each epoch, the policy counts how many images of each age there were, those
    included that it does not keep, and how many were used. From these shares follow the uses per epoch that are to be
    expected of a kept image of an age (as in EVA: Beckmann and Sanchez, HPCA 2017). The victim is always the least
    recently used image.
    """

    OLDEST = 12
    # A replacement costs the uses of the victim in the current epoch, so it must gain more than nothing.
    GAIN = 1.5
    DECAY = 0.5
    # The share without any experience, and at an age without experience as a part of that at the age before.
    PRIOR, GUESS = 0.5, 0.9
    GHOSTS = 4
    KNOWS_RUNS = True

    def __init__(self, capacity):
        self.capacity, self.run, self.epoch, self.uses = capacity, None, 0, 0
        self.kept, self.ghosts = collections.OrderedDict(), collections.OrderedDict()
        ages = range(self.OLDEST + 1)
        self.seen, self.used = [0.0 for _ in ages], [0.0 for _ in ages]
        self.present, self.hits, self.last = [0 for _ in ages], [0 for _ in ages], [None for _ in ages]
        # The images that were new in the last epoch and not used since, those that are new in this one, and the number
        # of earlier ones and of their uses.
        self.newcomers, self.latest = set(), set()
        self.new_seen = self.new_used = self.new_hits = 0.0
        self.value = self.values()

    def age(self, last):
        return min(self.OLDEST, self.epoch - last)

    def request(self, key, run):
        is_new_run = self.KNOWS_RUNS and run != self.run and self.uses * 32 >= self.capacity
        if is_new_run or self.uses * 2 >= self.capacity:
            self.begin()
        self.run = run
        last = self.kept.get(key, self.ghosts.get(key))
        if last != self.epoch:
            self.uses += 1
        if last is None:
            self.latest.add(key)
        else:
            self.hits[self.age(last)] += 1
        if key in self.newcomers:
            self.newcomers.remove(key)
            self.new_hits += 1
        if key in self.kept:
            self.kept[key] = self.epoch
            self.kept.move_to_end(key)
            return True
        self.ghosts.pop(key, None)
        if len(self.kept) < self.capacity or self.is_better(last):
            self.kept[key] = self.epoch
            if len(self.kept) > self.capacity:
                self.forget(*self.kept.popitem(last=False))
        else:
            self.forget(key, self.epoch)
        return False

    def is_better(self, last):
        victim = self.age(next(iter(self.kept.values())))
        if victim == 0:
            return False
        if last is None:
            share = self.new_used / self.new_seen if self.new_seen > 0 else self.PRIOR
            return share > self.GAIN * self.value[victim]
        if self.age(last) == 0:
            return True
        return min(self.value[1], 1 / self.age(last)) > self.GAIN * self.value[victim]

    def forget(self, key, last):
        self.ghosts[key] = last
        if len(self.ghosts) > self.GHOSTS * self.capacity:
            self.ghosts.popitem(last=False)

    def begin(self):
        for age in range(1, self.OLDEST + 1):
            self.seen[age] = self.seen[age] * self.DECAY + self.present[age]
            self.used[age] = self.used[age] * self.DECAY + self.hits[age]
            if self.present[age]:
                self.last[age] = self.hits[age] / self.present[age]
        self.new_seen = self.new_seen * self.DECAY + self.new_hits + len(self.newcomers)
        self.new_used = self.new_used * self.DECAY + self.new_hits
        self.newcomers, self.latest, self.new_hits, self.uses = self.latest, set(), 0, 0
        self.epoch += 1
        self.hits = [0] * len(self.hits)
        counts = collections.Counter(self.age(last) for part in (self.kept, self.ghosts) for last in part.values())
        self.present = [counts[age] for age in range(self.OLDEST + 1)]
        self.value = self.values()

    def values(self):
        """The greatest number of uses per epoch that an image of each age has, over all times that it could be kept."""
        share = [0.0] * (self.OLDEST + 1)
        for age in range(1, self.OLDEST + 1):
            if self.seen[age] > 0:
                share[age] = self.used[age] / self.seen[age]
            elif age == 1:
                share[age] = self.PRIOR
            else:
                share[age] = (share[age - 1] if self.last[age - 1] is None else self.last[age - 1]) * self.GUESS
        values = [0.0] * (self.OLDEST + 1)
        for age in range(1, self.OLDEST + 1):
            unused = 1.0
            for epochs, one in enumerate(share[age:], 1):
                unused *= 1 - one
                values[age] = max(values[age], (1 - unused) / epochs)
        return values


class ReuseAgesOfService(ReuseAges):
    """The policy in a process that serves all runs, as in the memory tier."""

    KNOWS_RUNS = False


def optimum(trace, capacity):
    """Belady's policy: evicts the image whose next use is the furthest away. Returns the hits, by request."""
    following, places = {}, [0] * len(trace)
    for place in range(len(trace) - 1, -1, -1):
        key = trace[place][0]
        places[place] = following.get(key, len(trace) + place)
        following[key] = place
    kept, order, hits = {}, [], []
    for place, (key, _) in enumerate(trace):
        hits.append(key in kept)
        kept[key] = places[place]
        heapq.heappush(order, (-places[place], key))
        while len(kept) > capacity:
            next_use, victim = heapq.heappop(order)
            if kept.get(victim) == -next_use:
                del kept[victim]
    return hits


POLICIES = {
    "LRU": LRU, "S3-FIFO": S3FIFO, "ARC": ARC, "fixed subset": Fixed, "thumbs, disk": ReuseAges,
    "thumbs, memory": ReuseAgesOfService, "optimum": None,
}


def nights(lists):
    return [(key, run) for run, keys in enumerate(lists) for key in keys]


def zipf(exponent, count, images, chance):
    """Requests of a service, all in one run."""
    total, sums = 0.0, []
    for rank in range(1, images + 1):
        total += rank ** -exponent
        sums.append(total)
    return [(bisect.bisect(sums, chance.random() * total), 0) for _ in range(count)]


def photos(exponent, scale, count, chance):
    """Requests of a service whose images come one by one, and lose their popularity with age: the number of images
    that came later has a Pareto distribution."""
    trace, images = [], 0
    for _ in range(count):
        age = int(scale * ((1 - chance.random()) ** (-1 / exponent) - 1))
        if images == 0 or chance.random() < 0.3:
            images, age = images + 1, 0
        trace.append((max(0, images - 1 - age) if age < images else chance.randrange(images), 0))
    return trace


def lists(number, chance):
    """The lists of each kind, for that many nights."""
    def shuffled(keys):
        return chance.sample(list(keys), len(keys))

    def half(_):
        return shuffled(list(range(400)) + chance.sample(range(400, 2000), 800))

    every, runs = range(2000), range(number)
    return {
        "same order": [every for _ in runs],
        "random order": [shuffled(every) for _ in runs],
        "two lists of 1,000 in turn": [range(1000 * (run % 2), 1000 * (run % 2) + 1000) for run in runs],
        "another list from night 4": [every if run < 3 else range(5000, 7000) for run in runs],
        "1,400 random of 2,000": [shuffled(every)[:1400] for _ in runs],
        "window of 1,200, shifted by 200": [range(200 * run, 200 * run + 1200) for run in runs],
        "400 constant, 800 of the others": [half(run) for run in runs],
    }


def shares(policy, trace, capacity, starts):
    """Returns the share of hits, in percent, of each part of the trace but the first."""
    if policy == "optimum":
        hits = optimum(trace, capacity)
    else:
        cache = POLICIES[policy](capacity)
        hits = [cache.request(key, run) for key, run in trace]
    ends = starts[1:] + [len(trace)]
    return [100 * sum(hits[start:end]) / (end - start) for start, end in zip(starts, ends)][1:]


def compare(name, size, trace, capacity, starts):
    """Prints the share of hits of each policy from the second part of the trace on. Returns their means."""
    means = {}
    for policy in POLICIES:
        parts = shares(policy, trace, capacity, starts)
        means[policy] = sum(parts) / len(parts)
        print(f"{name:<33} {size:>5}  {policy:<15}" + "".join(f"{part:6.1f}" for part in parts))
    return f"{name}, {size}", means


COLORS = {
    "LRU": "#888888", "S3-FIFO": "#b07d2b", "ARC": "#7a5ca8", "fixed subset": "#2f8f5b", "thumbs, disk": "#c0392b",
    "thumbs, memory": "#e07a6f", "optimum": "#1f5f99",
}


def plot(rows, path):
    """Draws the means of all traces: one line per trace, one dot per policy."""
    left, right, step, top = 290, 770, 20, 46
    height = top + step * len(rows) + 20

    def x(share):
        return left + (right - left) * share / 100

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {height}" font-family="sans-serif" '
           f'font-size="12" fill="#222222">', f'<rect width="800" height="{height}" fill="#ffffff"/>']
    for index, (policy, color) in enumerate(COLORS.items()):
        out.append(f'<circle cx="{20 + index * 110}" cy="16" r="5" fill="{color}"/>'
                   f'<text x="{29 + index * 110}" y="20">{policy}</text>')
    for share in range(0, 101, 20):
        out.append(f'<path d="M{x(share)} {top - 6}V{height - 14}" stroke="#dddddd"/>'
                   f'<text x="{x(share)}" y="{top - 9}" text-anchor="middle">{share} %</text>')
    for index, (name, means) in enumerate(rows):
        y = top + step * index + 10
        out.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{name}</text>')
        for policy, color in COLORS.items():
            shape = f'cx="{x(means[policy]):.1f}" cy="{y}"'
            ring = policy == "optimum"
            out.append(f'<circle {shape} r="{7 if ring else 5}" fill="{"none" if ring else color}" stroke="{color}" '
                       f'fill-opacity="0.8"/>')
    open(path, "w", encoding="utf-8").write("\n".join(out + ["</svg>"]) + "\n")


def main():
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    chance, rows = random.Random(1), []
    print("Hits in percent, from the second night on")
    for name, runs in lists(number, chance).items():
        trace = nights(runs)
        starts = [next(place for place, (_, run) in enumerate(trace) if run == night) for night in range(number)]
        for part in (80, 50, 25):
            rows.append(compare(name, f"{part} %", trace, 2000 * part // 100, starts))
    print("\nHits in percent of 100,000 requests, after 50,000 requests")
    services = {f"Zipf {exponent}": zipf(exponent, 150_000, 50_000, chance) for exponent in (0.8, 1.0, 1.2)}
    services |= {f"photos {e}, {scale}": photos(e, scale, 150_000, chance) for e, scale in ((1.2, 50), (0.7, 1000))}
    for name, trace in services.items():
        for capacity in (200, 1000, 5000):
            rows.append(compare(name, str(capacity), trace, capacity, [0, 50_000]))
    if len(sys.argv) > 1:
        plot(rows, sys.argv[1])


main()
