"""Measures what findings say about a board of KiCad once more, with Shapely and a reader of its own.

Argument: the board. Input: JSON with `kinds` (of nets, by name) and `findings` (as in rules.json). Prints JSON: for each finding a list of
what was measured, [what, said, measured], and `areas`: of the fills of each net and layer.
"""

import json
import math
import re
import sys

from shapely import LineString, Point, Polygon, STRtree, affinity, box, make_valid, unary_union
from shapely.ops import nearest_points

SEGMENTS = 32
PLANE_MM2 = 4.0
CLEARANCE_MM = 0.7


def read(text):
    stack = [[]]
    for word in re.findall(r'"(?:[^"\\]|\\.)*"|[()]|[^\s()"]+', text):
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word[1:-1].replace('\\"', '"').replace("\\\\", "\\") if word.startswith('"') else word)
    return stack[0][0]


def all_of(node, *names):
    return [item for item in node if isinstance(item, list) and item and item[0] in names]


def first(node, name):
    return next(iter(all_of(node, name)), None)


def word_of(node, name):
    found = first(node, name)
    return found[1] if found and len(found) > 1 else None


def numbers(node, name, default=None):
    found = first(node, name)
    if found is None:
        return default
    return [float(word) for word in found[1:] if not isinstance(word, list) and re.match(r"[-+.]*\d", word)]


def points_of(node):
    return [(float(p[1]), float(p[2])) for p in all_of(first(node, "pts") or [], "xy")]


def arc(item):
    start, end, middle = numbers(item, "start"), numbers(item, "end"), numbers(item, "mid")
    if middle is None:
        # Up to KiCad 5: the centre, the begin and an angle.
        centre, begin, sweep = start, end, math.radians(numbers(item, "angle")[0])
    else:
        (ax, ay), (bx, by), (cx, cy) = start, middle, end
        d = 2 * (ax * (by - cy) + bx * (cy - ay) + cx * (ay - by))
        if abs(d) < 1e-9:
            return [start, end]
        a2, b2, c2 = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
        centre = (
            (a2 * (by - cy) + b2 * (cy - ay) + c2 * (ay - by)) / d,
            (a2 * (cx - bx) + b2 * (ax - cx) + c2 * (bx - ax)) / d,
        )
        angle = lambda p: math.atan2(p[1] - centre[1], p[0] - centre[0])
        to_middle = (angle(middle) - angle(start)) % math.tau
        sweep = (angle(end) - angle(start)) % math.tau
        if to_middle > sweep:
            sweep -= math.tau
        begin = start
    radius = math.dist(centre, begin)
    at = math.atan2(begin[1] - centre[1], begin[0] - centre[0])
    steps = (at + sweep * i / SEGMENTS for i in range(SEGMENTS + 1))
    return [(centre[0] + radius * math.cos(a), centre[1] + radius * math.sin(a)) for a in steps]


def path(item):
    """The points of a drawing, closed ones with their first point again."""
    kind = item[0][3:]
    if kind == "line":
        return [numbers(item, "start"), numbers(item, "end")]
    if kind == "rect":
        (ax, ay), (bx, by) = numbers(item, "start"), numbers(item, "end")
        return [(ax, ay), (bx, ay), (bx, by), (ax, by), (ax, ay)]
    if kind == "arc":
        return arc(item)
    if kind == "circle":
        centre = numbers(item, "center")
        return list(Point(centre).buffer(math.dist(centre, numbers(item, "end")), SEGMENTS).exterior.coords)
    points = points_of(item)
    if kind == "curve" and len(points) == 4:
        weights = lambda t: ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        mixed = lambda t, axis: sum(w * p[axis] for w, p in zip(weights(t), points))
        return [(mixed(i / SEGMENTS, 0), mixed(i / SEGMENTS, 1)) for i in range(SEGMENTS + 1)]
    return points + points[:1] if kind == "poly" else points


def stroke(points, width):
    return LineString(points).buffer(width / 2, SEGMENTS) if width > 0 else Polygon()


def disc(centre, radius):
    return Point(centre).buffer(radius, SEGMENTS)


def drawn(item):
    """The copper of a drawing in a pad."""
    pen = numbers(first(item, "stroke") or item, "width", [0])[0]
    fill = word_of(item, "fill")
    kind = item[0][3:]
    filled = fill not in ("none", "no") if fill else kind == "poly" or (kind != "curve" and pen <= 0)
    if kind == "circle":
        centre = numbers(item, "center")
        radius = math.dist(centre, numbers(item, "end"))
        outer = disc(centre, radius + pen / 2)
        return outer if filled or radius <= pen / 2 else outer.difference(disc(centre, radius - pen / 2))
    points = path(item)
    if filled and kind in ("poly", "rect"):
        return Polygon(points).buffer(0).buffer(pen / 2, SEGMENTS)
    return stroke(points, pen)


def pad_shape(pad, width, height):
    kind, w, h = pad[3], width / 2, height / 2
    corners = [(-w, -h), (w, -h), (w, h), (-w, h)]
    if kind == "circle":
        return disc((0, 0), w)
    if kind == "oval":
        r = min(w, h)
        return LineString([(r - w, r - h), (w - r, h - r)]).buffer(r, SEGMENTS) if w != h else disc((0, 0), r)
    if kind == "roundrect":
        r = 2 * min(w, h) * min(numbers(pad, "roundrect_rratio", [0.25])[0], 0.5)
        if first(pad, "chamfer"):
            return None
        if w - r < 1e-9 or h - r < 1e-9:
            r = min(w, h)
            return LineString([(r - w, r - h), (w - r, h - r)]).buffer(r, SEGMENTS) if w != h else disc((0, 0), r)
        return box(r - w, r - h, w - r, h - r).buffer(r, SEGMENTS) if r else Polygon(corners)
    if kind == "rect":
        return Polygon(corners)
    if kind == "trapezoid":
        dy, dx = (d / 2 for d in numbers(pad, "rect_delta", [0, 0]))
        return Polygon([(-w - dy, h + dx), (w + dy, h - dx), (w - dy, -h + dx), (-w + dy, -h - dx)])
    if kind == "custom":
        anchor = word_of(first(pad, "options") or [], "anchor")
        parts = [Polygon(corners) if anchor == "rect" else disc((0, 0), w)]
        return unary_union(parts + [drawn(item) for item in (first(pad, "primitives") or [])[1:]])
    return None


class Board:
    def __init__(self, text):
        root = read(text)
        self.root = root
        kinds = ("signal", "power", "mixed", "jumper")
        entries = [entry for entry in first(root, "layers")[1:] if entry[2] in kinds and entry[1].endswith(".Cu")]
        inner = sorted((e[1] for e in entries if e[1].startswith("In")), key=lambda name: int(name[2:-3]))
        outer = {e[1] for e in entries}
        self.layers = [n for n in ["F.Cu"] if n in outer] + inner + [n for n in ["B.Cu"] if n in outer]
        self.called = {e[3]: e[1] for e in entries if len(e) > 3 and not isinstance(e[3], list)}
        self.names = {entry[1]: entry[2] for entry in all_of(root, "net") if len(entry) > 2}
        self.tracks, self.vias, self.fills, self.pads, self.edges = [], [], [], [], []
        self.unfilled = set()
        for item in all_of(root, "segment", "arc"):
            points = arc(item) if item[0] == "arc" else [numbers(item, "start"), numbers(item, "end")]
            for layer in self.layers_of(item):
                self.tracks.append((layer, self.net_of(item), points, numbers(item, "width")[0]))
        for item in all_of(root, "via"):
            ends = sorted(self.layers.index(name) for name in self.layers_of(item))
            if ends:
                layers = self.layers[ends[0] : ends[-1] + 1]
                self.vias.append((set(layers), self.net_of(item), numbers(item, "at")[:2], numbers(item, "size")[0]))
        for item in all_of(root, "zone"):
            self.zone(item)
        for item in all_of(root, "gr_line", "gr_rect", "gr_arc", "gr_circle", "gr_poly", "gr_curve"):
            self.drawing(item, lambda point: tuple(point))
        for item in all_of(root, "module", "footprint"):
            self.footprint(item)

    def net_of(self, item):
        net = first(item, "net")
        if net is None or len(net) < 2:
            return ""
        return net[2] if len(net) > 2 else self.names.get(net[1], net[1])

    def layers_of(self, item):
        words = (first(item, "layers") or first(item, "layer") or [""])[1:]
        outer = [self.layers[0], self.layers[-1]]
        named = lambda word: self.layers if word == "*.Cu" else outer if word == "F&B.Cu" else [self.called.get(word, word)]
        return {name for word in words for name in named(word)} & set(self.layers)

    def zone(self, zone):
        if first(zone, "keepout"):
            return
        solid = word_of(zone, "filled_areas_thickness")
        has_pen = solid != "no" if solid else int(first(self.root, "version")[1]) < 20250210
        pen = numbers(zone, "min_thickness", [0])[0] if has_pen else 0
        has_copper = False
        for fill in all_of(zone, "filled_polygon"):
            ring = points_of(fill)
            if len(ring) < 3:
                continue
            has_copper = True
            # Holes are bridged into rings, which even and odd tell apart.
            area = make_valid(Polygon(ring)).buffer(0)
            if pen:
                area = area.union(LineString(ring + ring[:1]).buffer(pen / 2, SEGMENTS))
            for layer in self.layers_of(fill) or self.layers_of(zone):
                self.fills.append((layer, self.net_of(zone), area, ring[0]))
        filled = first(zone, "fill")
        if not has_copper and not (filled and "yes" in filled):
            self.unfilled |= self.layers_of(zone)

    def drawing(self, item, place):
        if word_of(item, "layer") == "Edge.Cuts":
            points = [place(point) for point in path(item)]
            if len(points) > 1:
                self.edges.append(LineString(points))
        elif self.net_of(item):
            fill = word_of(item, "fill")
            points = [place(point) for point in path(item)]
            pen = numbers(first(item, "stroke") or item, "width", [0])[0]
            closed = item[0][3:] in ("poly", "rect", "circle")
            for layer in self.layers_of(item):
                if closed and (fill not in ("none", "no") if fill else item[0].endswith("poly")):
                    area = Polygon(points).buffer(0).buffer(pen / 2, SEGMENTS)
                    self.fills.append((layer, self.net_of(item), area, points[0]))
                elif pen:
                    self.tracks.append((layer, self.net_of(item), points, pen))

    def footprint(self, item):
        at = (numbers(item, "at") + [0])[:3]
        texts = [t for t in all_of(item, "property", "fp_text") if t[1] in ("Reference", "reference")]
        reference = texts[0][2] if texts else ""
        cos, sin = math.cos(math.radians(at[2])), math.sin(math.radians(at[2]))
        # Y points down, so angles count the other way.
        place = lambda p: (at[0] + p[0] * cos + p[1] * sin, at[1] - p[0] * sin + p[1] * cos)
        for drawing in all_of(item, "fp_line", "fp_rect", "fp_arc", "fp_circle", "fp_poly", "fp_curve"):
            self.drawing(drawing, place)
        for zone in all_of(item, "zone"):
            self.zone(zone)
        for pad in all_of(item, "pad"):
            degrees = (numbers(pad, "at") + [0])[2]
            size = numbers(pad, "size")
            drill = first(pad, "drill") or []
            holes = [float(word) for word in drill[1:] if not isinstance(word, list) and word != "oval"]
            bare = pad[2] == "np_thru_hole"
            covered = bare and holes and holes[0] >= size[0] and holes[-1] >= size[1]
            offset = numbers(drill, "offset", [0, 0])
            shape = pad_shape(pad, *size)
            x, y = place(numbers(pad, "at")[:2])
            turn = lambda p: affinity.rotate(Point(p), -degrees, origin=(0, 0))
            if shape is not None:
                shape = affinity.translate(shape, *offset)
                shape = affinity.translate(affinity.rotate(shape, -degrees, origin=(0, 0)), x, y)
            middle = turn(offset)
            self.pads.append(
                {
                    "part": reference,
                    "number": pad[1],
                    "net": self.net_of(pad),
                    "layers": set() if covered else self.layers_of(pad),
                    "shape": shape,
                    "at": (x + middle.x, y + middle.y),
                    "plated": pad[2] == "thru_hole",
                    "reach": None if shape is None else math.dist(shape.bounds[:2], shape.bounds[2:]) / 2,
                }
            )


class Measurer:
    def __init__(self, board, kinds):
        self.board, self.kinds = board, kinds
        self.planes = {}
        for layer, net, area, _ in board.fills:
            if kinds.get(net) in ("ground", "power") and area.area > PLANE_MM2:
                self.planes.setdefault(layer, []).append(area)
        self.planes = {layer: STRtree(areas) for layer, areas in self.planes.items()}
        self.edges = unary_union(board.edges) if board.edges else None

    def plane_near(self, layer, area):
        """The planes of a layer within a box."""
        tree = self.planes.get(layer)
        if tree is None:
            return Polygon()
        around = box(*area)
        return unary_union([tree.geometries[i].intersection(around) for i in tree.query(around)])

    def references(self, layer):
        index = self.board.layers.index(layer)
        beside = [self.board.layers[i] for i in (index - 1, index + 1) if 0 <= i < len(self.board.layers)]
        return [] if set(beside) & self.board.unfilled else [name for name in beside if name in self.planes]

    def pads(self, part, **wanted):
        return [
            pad
            for pad in self.board.pads
            if pad["part"] == part and pad["shape"] is not None and all(pad[key] == value for key, value in wanted.items())
        ]

    def gap(self, some, others):
        return min((a["shape"].distance(b["shape"]) for a in some for b in others), default=None)

    def joint(self, place, net, layers):
        """How far the nearest via or plated hole is that joins layers."""
        vias = [math.dist(place, at) for span, of, at, _ in self.board.vias if of == net and set(layers) <= span]
        holes = [math.dist(place, pad["at"]) for pad in self.board.pads if pad["net"] == net and pad["plated"]]
        return min(vias + holes, default=None)

    def length(self, net=None, layer=None, kind=None):
        return sum(
            LineString(points).length
            for on, of, points, _ in self.board.tracks
            if net in (None, of) and layer in (None, on) and kind in (None, self.kinds.get(of))
        )

    def measure(self, finding):
        rule = getattr(self, finding["rule"].replace("-", "_"), None)
        return [] if rule is None else rule(finding)

    # Rules.

    def radiator(self, f):
        return [("length", f["value"], self.length(net=f["net"]))]

    def switch_node(self, f):
        if f["unit"] == "mm":
            return [("length", f["value"], self.length(net=f["net"]))]
        fills = sum(area.area for _, net, area, _ in self.board.fills if net == f["net"])
        tracks = sum(LineString(points).length * width for _, net, points, width in self.board.tracks if net == f["net"])
        pads = [pad["shape"] for pad in self.board.pads if pad["net"] == f["net"]]
        return [] if None in pads else [("area", f["value"], fills + tracks + sum(pad.area for pad in pads))]

    def decoupling(self, f):
        part = f["at"]["footprint"]
        found = re.match(r"pin (\S*) is ([\d.]+) mm from (\S+), the nearest capacitor of ", f["detail"])
        if found and f["unit"] == "mm":
            number, _, capacitor = found.groups()
            pins = self.pads(part, number=number, net=f["net"])
            nearest = self.nearest(pins, f["net"])
            return [
                ("pin to capacitor", f["value"], self.nearest_of(pins, capacitor)),
                ("none is nearer", 1, float(nearest is None or f["value"] - 0.01 <= nearest)),
            ]
        found = re.match(r"pin (\S*) has no capacitor from ", f["detail"])
        if found:
            nearest = self.nearest(self.pads(part, number=found[1], net=f["net"]), f["net"])
            return [("none within 25 mm", 1, float(nearest is None or 25 < nearest))]
        return []

    def nearest(self, pins, net):
        """The way to the nearest capacitor from a net to a ground, on whichever layer."""
        grounded = {pad["part"] for pad in self.board.pads if self.kinds.get(pad["net"]) == "ground"}
        is_meant = lambda pad: pad["net"] == net and pad["part"] in grounded and re.match(r"C\d", pad["part"])
        return self.gap(pins, [pad for pad in self.board.pads if is_meant(pad) and pad["shape"] is not None])

    def nearest_of(self, pins, capacitor):
        """The way to the nearest pad of a capacitor; its other pad is on a ground."""
        grounds = [pad for pad in self.pads(capacitor) if self.kinds.get(pad["net"]) == "ground"]
        others = [pad for pad in self.pads(capacitor) if pad not in grounds]
        return self.gap(pins, others)

    def esd_protection(self, f):
        found = re.match(r"(\S+) is ([\d.]+) mm from the connector", f["detail"])
        if not found:
            return []
        pins = self.pads(f["at"]["footprint"], net=f["net"])[:1]
        return [("clamp", f["value"], self.gap(pins, self.pads(found[1], net=f["net"])))]

    def crystal(self, f):
        part = f["at"]["footprint"]
        own = self.pads(part)
        if "edge of the board" in f["detail"]:
            return [("edge", f["value"], min(self.edges.distance(pad["shape"]) for pad in own))]
        found = re.search(r"from the connector (\S+)", f["detail"])
        return [("connector", f["value"], self.gap(own, self.pads(found[1])))] if found else []

    def return_via(self, f):
        found = re.match(r"the nearest via or plated hole of (.+) that joins (\S+) and (\S+) is (.+) away", f["detail"])
        if not found:
            return []
        net, upper, lower, far = found.groups()
        distance = self.joint((f["at"]["x"], f["at"]["y"]), net, (upper, lower))
        if far.startswith("more than"):
            return [("none within 25 mm", 1, float(distance is None or distance > 25))]
        return [("joint", f["value"], distance)]

    def stitching(self, f):
        found = re.search(r"of (.+) on (\S+) and (\S+) have no via or plated hole", f["detail"])
        net, upper, lower = found.groups()
        distance = self.joint((f["at"]["x"], f["at"]["y"]), net, (upper, lower))
        return [("joint", f["value"], min(50.0, 50.0 if distance is None else distance))]

    def plane_gap(self, f):
        open_mm = float(re.match(r"([\d.]+) mm on", f["detail"])[1])
        left, low, right, high = f["bbox"]
        dx, dy = f["at"]["x"] - f["x"], f["at"]["y"] + f["y"]
        area = (left + dx - 1e-4, dy - high - 1e-4, right + dx + 1e-4, dy - low + 1e-4)
        copper = unary_union([self.plane_near(layer, area) for layer in self.references(f["layer"])])
        lines = [LineString(p) for on, of, p, _ in self.board.tracks if on == f["layer"] and of == f["net"]]
        tracks = unary_union([line.intersection(box(*area)) for line in lines]).difference(copper)
        own = [(at, size / 2) for _, net, at, size in self.board.vias if net == f["net"]]
        own += [(pad["at"], pad["reach"]) for pad in self.board.pads if pad["net"] == f["net"] and pad["plated"]]
        for at, radius in own:
            tracks = tracks.difference(disc(at, radius + CLEARANCE_MM))
        return [("without plane", open_mm, tracks.length)]

    def edge_proximity(self, f):
        found = re.search(r"; ([\d.]+) mm from the edge of (\S+), ", f["detail"])
        place = Point(f["at"]["x"], f["at"]["y"])
        end = nearest_points(self.edges, place)[0]
        way = LineString([place, end])
        x, y, right, low = way.bounds
        inside = way.intersection(self.plane_near(found[2], (x - 0.1, y - 0.1, right + 0.1, low + 0.1)).buffer(1e-6))
        far = max((place.distance(Point(p)) for part in getattr(inside, "geoms", [inside]) for p in part.coords), default=None)
        return [("edge", float(found[1]), far)]

    def crosstalk(self, f):
        found = re.search(r" run beside each other for ([\d.]+) mm on \S+, ([\d.]+) mm apart", f["detail"])
        other = f["detail"][len(f["net"]) + len(" and ") : found.start()]
        lines = lambda net: [LineString(p) for on, of, p, _ in self.board.tracks if on == f["layer"] and of == net]
        apart = float(found[2])
        nearest = min((a.distance(b) for a in lines(f["net"]) for b in lines(other)), default=None)
        # What is nearest may not run beside it.
        return [("at most apart", 1, float(nearest is not None and nearest <= apart + 0.006))]

    def copper_island(self, f):
        place = (f["at"]["x"], f["at"]["y"])
        here = [area for layer, net, area, corner in self.board.fills if layer == f["layer"] and net == f["net"] and math.dist(corner, place) < 2e-3]
        return [("area", f["value"], here[0].area if here else None)]

    def stackup(self, f):
        found = re.match(r"(\S+) has (\d+) mm of signals", f["detail"])
        return [("length", float(found[2]), self.length(layer=found[1], kind="signal"))]

    def trace_stub(self, f):
        length = float(re.match(r"([\d.]+) mm on", f["detail"])[1])
        return [("length", length, self.run_from((f["at"]["x"], f["at"]["y"]), f["net"], f["layer"]))]

    def run_from(self, place, net, layer):
        """The length of what begins at a place, up to where three tracks meet, or none goes on."""
        left = [points for on, of, points, _ in self.board.tracks if on == layer and of == net]
        key = lambda p: (round(p[0], 4), round(p[1], 4))
        meeting = {}
        for points in left:
            for end in {key(points[0]), key(points[-1])}:
                meeting[end] = meeting.get(end, 0) + 1
        at, total = key(place), 0.0
        while True:
            here = [points for points in left if at in (key(points[0]), key(points[-1]))]
            if total and meeting.get(at) != 2 or not here:
                return total
            left.remove(here[0])
            total += LineString(here[0]).length
            at = key(here[0][-1]) if key(here[0][0]) == at else key(here[0][0])


def main():
    board = Board(open(sys.argv[1], encoding="utf-8").read())
    asked = json.load(sys.stdin)
    measurer = Measurer(board, asked["kinds"])
    areas = {}
    for layer, net, area, _ in board.fills:
        areas.setdefault((layer, net), []).append(area.area)
    print(
        json.dumps(
            {
                "findings": [measurer.measure(finding) for finding in asked["findings"]],
                "areas": [[layer, net, sum(of)] for (layer, net), of in areas.items()],
            }
        )
    )


main()
