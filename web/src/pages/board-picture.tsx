// The picture of a board: its copper by layers, and findings as marks. The table beside it has the same in words.
import { useEffect, useRef, useState } from "preact/hooks";
import type { EmiFinding } from "../api/schema.ts";
import { type Board, type Sight, boxOf, nearest, placed, whole, zoomed } from "../model/board.ts";
import { Button } from "../ui/button.tsx";
import { Check } from "../ui/field.tsx";

const MARK = 7;
const REACH = 14;
/** A finding is looked at from this near, in pixels for a millimetre. */
const NEAR = 24;
const LANES = 8;
const INKS = { critical: "--bad", warning: "--warn", info: "--info" } as const;

/** The copper of each layer as paths in millimetres, made once. */
function pathsOf(board: Board) {
  const layers = board.layers.map(() => ({ areas: new Path2D(), lines: new Map<number, Path2D>() }));
  const holes = new Path2D();
  const draw = (path: Path2D, points: readonly number[]): void => {
    for (let i = 0; i + 1 < points.length; i += 2) i === 0 ? path.moveTo(points[0]!, points[1]!) : path.lineTo(points[i]!, points[i + 1]!);
  };
  for (const { kind, layer, points, width } of board.copper) {
    const on = layer === undefined ? undefined : layers[layer];
    if (points.length === 2 || !on) {
      holes.moveTo(points[0]! + width / 2, points[1]!);
      holes.arc(points[0]!, points[1]!, width / 2, 0, 2 * Math.PI);
    } else if (kind === "track") {
      if (!on.lines.has(width)) on.lines.set(width, new Path2D());
      draw(on.lines.get(width)!, points);
    } else {
      draw(on.areas, points);
      on.areas.closePath();
    }
  }
  const outline = new Path2D();
  for (const line of board.outline) draw(outline, line);
  return { layers, holes, outline };
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
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", look);
    const themed = new MutationObserver(look);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      dark.removeEventListener("change", look);
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
    c.setTransform(scale, 0, 0, -scale, element.width / 2 - seen.x * scale, element.height / 2 + seen.y * scale);
    c.lineCap = c.lineJoin = "round";
    const { layers, holes, outline } = paths.current!;
    // The top layer is drawn last, so that it is not covered.
    for (let i = layers.length - 1; i >= 0; i--) {
      if (hidden.has(i)) continue;
      c.fillStyle = c.strokeStyle = ink(`--lane-${i % LANES}`);
      c.globalAlpha = 0.22;
      c.fill(layers[i]!.areas, "evenodd");
      c.globalAlpha = 0.85;
      for (const [width, path] of layers[i]!.lines) {
        c.lineWidth = Math.max(width, 1 / scale);
        c.stroke(path);
      }
    }
    c.globalAlpha = 0.7;
    c.fillStyle = ink("--text-quiet");
    c.fill(holes);
    c.globalAlpha = 1;
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
