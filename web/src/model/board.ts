// A board as `board.json` has it: millimetres, y upwards. Pure.

/** Points, or the ring that they enclose, grown by half of `width`: one point is a disc, two are a stroke with round ends. */
export interface Copper {
  readonly kind: "pour" | "track" | "pad" | "via" | "hole";
  /** Undefined of what goes through several. */
  readonly layer?: number;
  readonly net: number;
  /** x, y, x, y, … */
  readonly points: readonly number[];
  /** Of the line along the points, in millimetres; 0 of a ring that is only filled. */
  readonly width: number;
}

export interface Board {
  readonly outline_mm: readonly number[];
  readonly layers: readonly { readonly name: string }[];
  readonly nets: readonly { readonly name: string }[];
  readonly outline: readonly (readonly number[])[];
  readonly copper: readonly Copper[];
}

export interface Box {
  readonly left: number;
  readonly bottom: number;
  readonly right: number;
  readonly top: number;
}

/** What is seen: a point of the board in the middle, and pixels for a millimetre. */
export interface Sight {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** Pieces by their width: those of one width are filled and stroked as one path. */
export type ByWidth = ReadonlyMap<number, readonly Copper[]>;

/** What is drawn together, as the server's own picture does it: layers from the last to the first, what goes through, holes. */
export interface Drawing {
  readonly layers: readonly {
    /** Even-odd, each for itself: where two of them overlap it would make a hole. */
    readonly pours: readonly Copper[];
    readonly copper: ByWidth;
  }[];
  readonly through: ByWidth;
  readonly holes: ByWidth;
}

export function drawingOf({ layers, copper }: Pick<Board, "layers" | "copper">): Drawing {
  const made = layers.map(() => ({ pours: [] as Copper[], copper: new Map<number, Copper[]>() }));
  const [through, holes] = [new Map<number, Copper[]>(), new Map<number, Copper[]>()];
  for (const piece of copper) {
    const { kind, layer, width } = piece;
    const on = layer === undefined ? undefined : made[layer];
    if (on && kind === "pour") {
      on.pours.push(piece);
      continue;
    }
    const into = kind === "hole" ? holes : (on?.copper ?? through);
    const alike = into.get(width);
    if (alike) alike.push(piece);
    else into.set(width, [piece]);
  }
  return { layers: made, through, holes };
}

/** A line of no length is not stroked, so that of a disc has this one. */
const DOT = 1e-4;

/** Adds the points of a piece to a path. */
export function trace(path: Pick<Path2D, "moveTo" | "lineTo" | "closePath">, points: readonly number[]): void {
  if (points.length < 2) return;
  path.moveTo(points[0]!, points[1]!);
  if (points.length === 2) path.lineTo(points[0]! + DOT, points[1]!);
  for (let i = 2; i + 1 < points.length; i += 2) path.lineTo(points[i]!, points[i + 1]!);
  if (points.length > 4) path.closePath();
}

export function boxOf(board: Board): Box {
  let box = { left: Infinity, bottom: Infinity, right: -Infinity, top: -Infinity };
  const lines = board.outline.length > 0 ? board.outline : board.copper.map(({ points }) => points);
  for (const line of lines)
    for (let i = 0; i + 1 < line.length; i += 2) box = { left: Math.min(box.left, line[i]!), right: Math.max(box.right, line[i]!), bottom: Math.min(box.bottom, line[i + 1]!), top: Math.max(box.top, line[i + 1]!) };
  return box.left <= box.right ? box : { left: 0, bottom: 0, right: 1, top: 1 };
}

const MARGIN = 0.92;
const SCALE_MAX = 400;

export function whole(box: Box, width: number, height: number): Sight {
  const scale = MARGIN * Math.min(width / Math.max(0.1, box.right - box.left), height / Math.max(0.1, box.top - box.bottom));
  return { x: (box.left + box.right) / 2, y: (box.bottom + box.top) / 2, scale: Math.min(SCALE_MAX, Math.max(0.01, scale)) };
}

/** Zooms so that the point of the board under (`px`, `py`), pixels from the middle, stays where it is. */
export function zoomed({ x, y, scale }: Sight, by: number, px: number, py: number): Sight {
  const next = Math.min(SCALE_MAX, Math.max(0.05, scale * by));
  return { x: x + px / scale - px / next, y: y - py / scale + py / next, scale: next };
}

/** Pixels from the middle, y downwards. */
export const placed = ({ x, y, scale }: Sight, at: { readonly x: number; readonly y: number }) => ({ x: (at.x - x) * scale, y: (y - at.y) * scale });

/** The nearest of `marks` that is within `reach` pixels. */
export function nearest<T extends { readonly x: number; readonly y: number }>(marks: readonly T[], sight: Sight, px: number, py: number, reach: number): T | undefined {
  let [best, far]: [T | undefined, number] = [undefined, reach];
  for (const mark of marks) {
    const at = placed(sight, mark);
    const distance = Math.hypot(at.x - px, at.y - py);
    if (distance <= far) [best, far] = [mark, distance];
  }
  return best;
}
