// The whole capture in small, with what is seen of it.
import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { centre, toX } from "../model/axis.ts";
import { hiddenColumns } from "../model/gaps.ts";
import { HIGH, LOW, STRETCHES, type Tile } from "../model/tiles.ts";
import type { Viewer } from "./viewer.ts";

export function Minimap({ viewer }: { viewer: Viewer }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current!.getContext("2d")!;
    // How busy the capture is where changes with its tile, what is seen of it with every frame: drawn apart.
    const busy = new OffscreenCanvas(1, 1);
    let drawn: Tile | undefined;
    let [accent, lost] = ["", ""];
    const draw = (): void => {
      const { clientWidth, clientHeight } = context.canvas;
      const [width, height] = [Math.round(clientWidth * devicePixelRatio), Math.round(clientHeight * devicePixelRatio)];
      const tile = viewer.topTile();
      if (!tile || width === 0) return;
      if (tile !== drawn || busy.width !== width) {
        drawn = tile;
        [busy.width, busy.height, context.canvas.width, context.canvas.height] = [width, height, width, height];
        const style = getComputedStyle(context.canvas);
        accent = style.getPropertyValue("--accent");
        lost = style.getPropertyValue("--warn");
        drawBusy(busy, tile, (2 ** tile.level / viewer.source.samples) * width, style.getPropertyValue("--text-quiet"));
      }
      const view = viewer.view.peek();
      const all = { from: 0, to: viewer.source.samples, samples: viewer.source.samples };
      const [from, to] = [toX(all, view.from, width), toX(all, view.to, width)];
      context.clearRect(0, 0, width, height);
      context.drawImage(busy, 0, 0);
      context.fillStyle = lost;
      for (const gap of hiddenColumns(viewer.gaps, all, width, 2)) context.fillRect(gap.from, height - 4, gap.to - gap.from, 4);
      context.fillStyle = accent;
      context.globalAlpha = 0.16;
      context.fillRect(from, 0, Math.max(2, to - from), height);
      context.globalAlpha = 1;
      context.fillRect(from, 0, 2, height);
      context.fillRect(Math.max(from, to - 2), 0, 2, height);
    };
    let frame = 0;
    const due = (): void => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        draw();
      });
    };
    const observer = new ResizeObserver(due);
    observer.observe(canvas.current!);
    const stop = effect(() => void (viewer.view.value, viewer.edition.value, due()));
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      stop();
    };
  }, [viewer]);
  const go = (event: PointerEvent): void => {
    if (event.buttons !== 1) return;
    const element = event.currentTarget as HTMLElement;
    element.setPointerCapture(event.pointerId);
    viewer.look(centre(viewer.view.peek(), (event.offsetX / element.clientWidth) * viewer.source.samples));
  };
  return <canvas class="minimap" ref={canvas} role="img" aria-label="The whole capture; the marked part is seen below" onPointerDown={go} onPointerMove={go} />;
}

function drawBusy(canvas: OffscreenCanvas, tile: Tile, stretch: number, colour: string): void {
  const context = canvas.getContext("2d")!;
  const lanes = tile.parts.filter((part) => part.kind === "digital");
  context.fillStyle = colour;
  context.globalAlpha = 0.45;
  for (let i = 0; i < STRETCHES; i++) {
    const busy = lanes.reduce((sum, part) => sum + (part.levels[i] === (LOW | HIGH) ? 1 : 0), 0);
    const tall = lanes.length ? (busy / lanes.length) * (canvas.height - 6) : 0;
    context.fillRect(i * stretch, canvas.height - 3 - tall, Math.max(1, stretch), tall + 1);
  }
}
