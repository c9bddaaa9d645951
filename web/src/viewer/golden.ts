// A good capture that is laid over another one: its lanes by their names, its time 0 at the other's.
import { effect } from "@preact/signals";
import type { View } from "../model/axis.ts";
import { Lookups } from "./lookups.ts";
import { StoredSource, readCapture } from "./sources.ts";
import { Viewer } from "./viewer.ts";

export class Golden {
  readonly id: string;
  readonly name: string;
  readonly viewer: Viewer;
  /** For each lane of the other one, the lane of this with its name. */
  readonly lanes: readonly (number | undefined)[];
  #over: Viewer;
  #stop: () => void = () => undefined;

  constructor(id: string, name: string, viewer: Viewer, lanes: readonly (number | undefined)[], over: Viewer) {
    this.id = id;
    this.name = name;
    this.viewer = viewer;
    this.lanes = lanes;
    this.#over = over;
  }

  /** `changed` is called when more of it can be drawn. */
  follow(changed: () => void): void {
    this.#stop = effect(() => {
      if (this.viewer.edition.value > 0) changed();
    });
  }

  close(): void {
    this.#stop();
    this.viewer.close();
  }

  /** What of it lies below a view of the other one; asks for its tiles. Its ends may lie outside of this capture. */
  viewBelow({ from, to }: View, columns: number): View {
    const { viewer } = this;
    const scale = viewer.source.rate / this.#over.source.rate;
    const at = (sample: number): number => (sample - this.#over.zero) * scale + viewer.zero;
    const view = { from: at(from), to: at(to), samples: viewer.source.samples };
    const before = viewer.view.peek();
    viewer.columns = columns;
    if (before.from !== view.from || before.to !== view.to) viewer.look(view);
    return view;
  }
}

export async function readGolden(id: string, over: Viewer): Promise<Golden> {
  const capture = await readCapture(id);
  const source = new StoredSource(capture);
  const names = capture.channels.map(({ name }) => name);
  const lanes = over.source.lanes.map(({ name, note, kind }) => {
    const at = names.indexOf(note ?? name);
    return at >= 0 && source.lanes[at]!.kind === kind ? at : undefined;
  });
  return new Golden(id, (capture.name ?? "").replace(/^[0-9A-Z]{26} /, "") || `${capture.kind} ${id.slice(-6)}`, new Viewer(id, source, new Lookups(capture), capture.trigger_sample), lanes, over);
}
