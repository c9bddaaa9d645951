// The picture of a board: its copper by layers, and findings as marks. The table beside it has the same in words.
import { useEffect, useRef, useState } from "preact/hooks";
import type { EmiFinding } from "../api/schema.ts";
import { type Board, type ByWidth, type Copper, type Sight, boxOf, drawingOf, nearest, placed, trace, whole, zoomed } from "../model/board.ts";
import { Button } from "../ui/button.tsx";
import { Check } from "../ui/field.tsx";
import { watchColours } from "../viewer/watch-colours.ts";

const MARK = 7;
const REACH = 14;
/** A finding is looked at from this near, in pixels for a millimetre. */
const NEAR = 24;
const LANES = 8;
const INKS = { critical: "--bad", warning: "--warn", info: "--info" } as const;

/** How much of what is behind them they hide. */
const POUR_OPACITY = 0.22;
const COPPER_OPACITY = 0.85;

interface Stroke {
  readonly path: Path2D;
  readonly width: number;
}

/** The copper of each layer as paths in millimetres, made once. */
function pathsOf(board: Board) {
  const pathOf = (pieces: readonly Copper[]): Path2D => {
    const path = new Path2D();
    for (const { points } of pieces) trace(path, points);
    return path;
  };
  const strokes = (pieces: ByWidth): readonly Stroke[] => [...pieces].map(([width, alike]) => ({ path: pathOf(alike), width }));
  const { layers, through, holes } = drawingOf(board);
  const outline = new Path2D();
  for (const [x, y, ...rest] of board.outline) {
    if (x === undefined || y === undefined) continue;
    outline.moveTo(x, y);
    for (let i = 0; i + 1 < rest.length; i += 2) outline.lineTo(rest[i]!, rest[i + 1]!);
  }
  return {
    layers: layers.map(({ pours, copper }) => ({ pours: pours.map((pour) => ({ path: pathOf([pour]), width: pour.width })), copper: strokes(copper) })),
    through: strokes(through),
    holes: strokes(holes),
    outline,
  };
}

/** Fills and strokes; `least` is the width of the thinnest line. */
function draw(c: CanvasRenderingContext2D, strokes: readonly Stroke[], least: number, rule: CanvasFillRule = "nonzero"): void {
  c.lineCap = c.lineJoin = "round";
  for (const { path, width } of strokes) {
    c.fill(path, rule);
    if (width === 0) continue;
    c.lineWidth = Math.max(width, least);
    c.stroke(path);
  }
}

export function BoardPicture({ board, findings, chosen, onChoose }: { board: Board; findings: readonly EmiFinding[]; chosen: string | undefined; onChoose: (id: string) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const paths = useRef<ReturnType<typeof pathsOf> | undefined>(undefined);
  const [sight, see] = useState<Sight | undefined>();
  const [hidden, hide] = useState<ReadonlySet<number>>(new Set());
  const [size, measure] = useState({ width: 0, height: 0, colours: 0 });
  const box = boxOf(board);
  const seen = sight ?? whole(box, size.width, size.height);
  paths.current ??= pathsOf(board);

  useEffect(() => {
    const element = canvas.current!;
    const look = (): void => measure(({ colours }) => ({ width: element.clientWidth, height: element.clientHeight, colours: colours + 1 }));
    const resized = new ResizeObserver(look);
    resized.observe(element);
    const unwatch = watchColours(look);
    return () => {
      resized.disconnect();
      unwatch();
    };
  }, []);
  useEffect(() => {
    const one = findings.find(({ id }) => id === chosen);
    if (one) see({ x: one.x, y: one.y, scale: Math.max(NEAR, seen.scale) });
  }, [chosen]);

  useEffect(() => {
    const element = canvas.current!;
    if (size.width === 0) return;
    const ratio = devicePixelRatio;
    [element.width, element.height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    const c = element.getContext("2d")!;
    const style = getComputedStyle(element);
    const ink = (name: string): string => style.getPropertyValue(name);
    const scale = seen.scale * ratio;
    const toBoard = (on: CanvasRenderingContext2D): void => on.setTransform(scale, 0, 0, -scale, element.width / 2 - seen.x * scale, element.height / 2 + seen.y * scale);
    // Pieces of one kind hide what is behind them once, however often they overlap: they are drawn aside, and then laid over it.
    const aside = document.createElement("canvas");
    [aside.width, aside.height] = [element.width, element.height];
    const s = aside.getContext("2d")!;
    const lay = (colour: string, opacity: number, work: () => void): void => {
      s.setTransform(1, 0, 0, 1, 0, 0);
      s.clearRect(0, 0, aside.width, aside.height);
      s.fillStyle = s.strokeStyle = colour;
      toBoard(s);
      work();
      c.globalAlpha = opacity;
      c.drawImage(aside, 0, 0);
      c.globalAlpha = 1;
    };
    const { layers, through, holes, outline } = paths.current!;
    const thin = 1 / scale;
    // The top layer is drawn last, so that it is not covered.
    for (let i = layers.length - 1; i >= 0; i--) {
      if (hidden.has(i)) continue;
      const { pours, copper } = layers[i]!;
      const colour = ink(`--lane-${i % LANES}`);
      lay(colour, POUR_OPACITY, () => draw(s, pours, 0, "evenodd"));
      lay(colour, COPPER_OPACITY, () => draw(s, copper, thin));
    }
    toBoard(c);
    c.fillStyle = c.strokeStyle = ink("--text-quiet");
    draw(c, through, thin);
    c.fillStyle = c.strokeStyle = style.backgroundColor;
    draw(c, holes, 0);
    c.strokeStyle = ink("--text");
    c.lineWidth = 1.5 / scale * ratio;
    c.stroke(outline);
    c.setTransform(ratio, 0, 0, ratio, element.width / 2, element.height / 2);
    for (const finding of findings) {
      const at = placed(seen, finding);
      c.fillStyle = c.strokeStyle = ink(INKS[finding.severity]);
      c.lineWidth = 2;
      c.beginPath();
      c.arc(at.x, at.y, MARK, 0, 2 * Math.PI);
      c.globalAlpha = finding.id === chosen ? 0.9 : 0.3;
      c.fill();
      c.globalAlpha = 1;
      c.stroke();
      if (finding.id !== chosen) continue;
      c.beginPath();
      c.arc(at.x, at.y, MARK + 5, 0, 2 * Math.PI);
      c.stroke();
    }
  }, [seen.x, seen.y, seen.scale, size, hidden, findings, chosen]);

  const middle = (event: MouseEvent) => ({ x: event.offsetX - size.width / 2, y: event.offsetY - size.height / 2 });
  const moved = useRef(0);
  return (
    <div class="board-picture">
      <div class="bar">
        {board.layers.map(({ name }, i) => (
          <span key={name} class={`c${i % LANES}`}><Check label={name} on={!hidden.has(i)} onChange={(on) => {
            const next = new Set(hidden);
            on ? next.delete(i) : next.add(i);
            hide(next);
          }} /></span>
        ))}
        <span class="grow" />
        <Button icon="minus" label="Zoom out" hidden onClick={() => see(zoomed(seen, 1 / 1.5, 0, 0))} />
        <Button icon="plus" label="Zoom in" hidden onClick={() => see(zoomed(seen, 1.5, 0, 0))} />
        <Button icon="fit" label="The whole board" hidden onClick={() => see(undefined)} />
      </div>
      <canvas ref={canvas} role="img" aria-label="The board with its findings; the table below has the same in words"
        onWheel={(event) => {
          event.preventDefault();
          const at = middle(event);
          see(zoomed(seen, Math.exp(-event.deltaY * 0.0016), at.x, at.y));
        }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          moved.current = 0;
        }}
        onPointerMove={(event) => {
          if (event.buttons !== 1) return;
          moved.current += Math.abs(event.movementX) + Math.abs(event.movementY);
          see({ ...seen, x: seen.x - event.movementX / seen.scale, y: seen.y + event.movementY / seen.scale });
        }}
        onPointerUp={(event) => {
          const at = middle(event);
          const one = moved.current < 4 ? nearest(findings, seen, at.x, at.y, REACH) : undefined;
          if (one) onChoose(one.id);
        }} />
    </div>
  );
}
