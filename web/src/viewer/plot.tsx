// The two canvases, and what pointer, wheel and keys do on them.
import { effect, untracked } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { pan, span, toSample, toX, whole, zoom } from "../model/axis.ts";
import { Painter, places } from "./painter.ts";
import type { Viewer } from "./viewer.ts";
import { watchColours } from "./watch-colours.ts";

const MINIMAP = 28;
const ZOOM_PER_PIXEL = 0.0016;
const HELP =
  "Wave forms. Plus and minus zoom, left and right move, F shows all, N and P go to the next and previous edge, 1 and 2 set cursors at the pointer or in the middle, M sets a marker, Escape removes cursors. The table of annotations has the same in words.";

export function Plot({ viewer, onMarker }: { viewer: Viewer; onMarker?: ((sample: number, lane: number) => void) | undefined }) {
  const box = useRef<HTMLDivElement>(null);
  const waves = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const onMarkerNow = useRef(onMarker);
  onMarkerNow.current = onMarker;

  useEffect(() => {
    const frame = box.current!;
    const painter = new Painter(viewer, waves.current!, over.current!);
    const stage = frame.closest<HTMLElement>(".stage")!;
    const resize = (): void => {
      viewer.room.value = stage.clientHeight - MINIMAP;
      painter.resize(frame.clientWidth, places(viewer).height);
      viewer.want();
    };
    const observer = new ResizeObserver(resize);
    observer.observe(frame);
    observer.observe(stage);
    const stops = [
      watchColours(() => painter.recolour()),
      effect(() => void (viewer.view.value, viewer.edition.value, viewer.golden.value, viewer.trigger.value, painter.due(true))),
      effect(() => void (viewer.hover.value, viewer.cursors.value, viewer.markers.value, viewer.places.value, viewer.judged.value, painter.due(false))),
      effect(() => void (viewer.rows.value.length, untracked(resize))),
      listen(over.current!, viewer, (sample, lane) => onMarkerNow.current?.(sample, lane)),
    ];
    return () => {
      observer.disconnect();
      stops.forEach((stop) => stop());
      painter.close();
    };
  }, [viewer]);

  return (
    <div class="plot" ref={box}>
      <canvas ref={waves} />
      <canvas ref={over} class="over" tabIndex={0} role="application" aria-label={HELP} />
    </div>
  );
}

function listen(canvas: HTMLCanvasElement, viewer: Viewer, mark: (sample: number, lane: number) => void): () => void {
  const stop = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(name: K, does: (event: HTMLElementEventMap[K]) => void): void =>
    canvas.addEventListener(name, does, { signal: stop.signal, passive: false });
  const share = (x: number): number => x / canvas.clientWidth;
  const sampleAt = (x: number): number => toSample(viewer.view.peek(), x, canvas.clientWidth);
  const laneAt = (y: number): number => places(viewer).lanes.findIndex(({ top, height }) => y >= top && y < top + height);
  const pointers = new Map<number, number>();
  let moved = 0;
  let held: "a" | "b" | undefined;

  on("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 33 : 1;
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const delta = (sideways && event.deltaX !== 0 ? event.deltaX : event.deltaY) * lines;
    const view = viewer.view.peek();
    viewer.look(sideways ? pan(view, share(delta)) : zoom(view, share(event.offsetX), Math.exp(delta * ZOOM_PER_PIXEL * (event.ctrlKey ? 6 : 1))));
  });

  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event.offsetX);
    moved = 0;
    const { a, b } = viewer.cursors.peek();
    const near = (cursor: number | undefined): boolean => cursor !== undefined && Math.abs(toX(viewer.view.peek(), cursor, canvas.clientWidth) - event.offsetX) < 8;
    held = event.offsetY < 32 ? (near(a) ? "a" : near(b) ? "b" : undefined) : undefined;
    const lane = laneAt(event.offsetY);
    if (lane >= 0) viewer.selected.value = lane;
  });

  on("pointermove", (event) => {
    viewer.hover.value = { sample: sampleAt(event.offsetX), lane: laneAt(event.offsetY) };
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    moved += Math.abs(event.offsetX - before);
    const view = viewer.view.peek();
    if (held) void viewer.place(held, sampleAt(event.offsetX), viewer.selected.value);
    else if (pointers.size === 1) viewer.look(pan(view, share(before - event.offsetX)));
    else {
      const other = [...pointers].find(([id]) => id !== event.pointerId)![1];
      const [was, is] = [Math.max(8, Math.abs(before - other)), Math.max(8, Math.abs(event.offsetX - other))];
      viewer.look(zoom(view, share(other), was / is));
    }
    pointers.set(event.pointerId, event.offsetX);
  });

  const up = (event: PointerEvent): void => {
    if (pointers.delete(event.pointerId) && moved < 4 && event.type === "pointerup" && !held)
      void viewer.place(event.shiftKey ? "b" : "a", sampleAt(event.offsetX), laneAt(event.offsetY));
    held = undefined;
  };
  on("pointerup", up);
  on("pointercancel", up);
  on("pointerleave", () => (viewer.hover.value = undefined));

  on("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const view = viewer.view.peek();
    const hover = viewer.hover.peek();
    const here = hover ? (hover.sample - view.from) / span(view) : 0.5;
    const middle = hover?.sample ?? (view.from + view.to) / 2;
    const choose = (lane: number): void => void (viewer.selected.value = Math.min(viewer.source.lanes.length - 1, Math.max(0, lane)));
    const zoomBy = (factor: number) => () => viewer.look(zoom(view, here, factor));
    const panBy = (share: number) => () => viewer.look(pan(view, share));
    const place = (cursor: "a" | "b") => () => void viewer.place(cursor, middle, hover?.lane ?? viewer.selected.value);
    const [closer, further, left, right] = [zoomBy(0.5), zoomBy(2), panBy(-0.1), panBy(0.1)];
    const actions: Record<string, () => void> = {
      "+": closer,
      "=": closer,
      w: closer,
      "-": further,
      s: further,
      ArrowLeft: left,
      a: left,
      ArrowRight: right,
      d: right,
      Home: panBy(-1e12),
      End: panBy(1e12),
      f: () => viewer.look(whole(view.samples)),
      n: () => void viewer.step(true),
      p: () => void viewer.step(false),
      ArrowUp: () => choose(viewer.selected.value - 1),
      ArrowDown: () => choose(viewer.selected.value + 1),
      "1": place("a"),
      "2": place("b"),
      m: () => mark(Math.round(middle), hover && hover.lane >= 0 ? hover.lane : viewer.selected.value),
      Escape: () => {
        viewer.cursors.value = {};
        viewer.places.value = [];
      },
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  return () => stop.abort();
}
