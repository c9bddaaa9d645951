// A board as `board.json` has it: millimetres, y upwards. Pure.

export interface Copper {
  readonly kind: string;
  /** Vias and holes go through all layers. */
  readonly layer?: number;
  readonly net: number;
  /** x, y, x, y, … */
  readonly points: readonly number[];
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
