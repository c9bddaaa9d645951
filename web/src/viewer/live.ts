// Follows the captures of a device as they are received.
import type { CapturesCapture, CapturesChannel } from "../api/schema.ts";
import { Socket } from "../api/socket.ts";
import { pan } from "../model/axis.ts";
import type { Gap } from "../model/gaps.ts";
import { LiveCapture, parseFrame } from "../model/live.ts";
import { LiveSource, laneOf } from "./sources.ts";
import { Viewer } from "./viewer.ts";

/** So often the view is drawn while frames arrive. */
const REFRESH_MS = 100;

interface State {
  readonly type: string;
  readonly capture_id: string;
  readonly channels: readonly CapturesChannel[];
}

export interface Following {
  /** Another capture has begun. */
  show(viewer: Viewer): void;
  /** One is over, with samples or without. */
  ended(last: Following["last"]): void;
  readonly last?: { readonly id: string; readonly status: CapturesCapture["status"] } | undefined;
}

export function followLive(device: string, following: Pick<Following, "show" | "ended">, stop: AbortSignal): Socket {
  let live: LiveCapture | undefined;
  let viewer: Viewer | undefined;
  let current = "";
  let trigger: number | undefined;
  let timer = 0;

  const begin = ({ capture_id, channels }: State): void => {
    if (channels.length === 0) return;
    // The pod may have another rate than was asked for, which is said before the first frame.
    const as = `${capture_id} ${channels.map((channel) => channel.sample_rate_hz).join()}`;
    if (as === current) return;
    current = as;
    const rate = Math.max(...channels.map((channel) => channel.sample_rate_hz));
    live = new LiveCapture(
      channels.map((channel) => ({
        ...laneOf(channel),
        channel: channel.id,
        offset: channel.offset,
        scale: channel.full_scale / 2 ** channel.bits,
        step: rate / channel.sample_rate_hz,
      })),
      rate,
    );
    viewer?.close();
    viewer = trigger = undefined;
    following.ended(undefined);
  };

  const refresh = (): void => {
    timer = 0;
    if (!live || live.samples === 0) return;
    if (!viewer) following.show((viewer = new Viewer(current.split(" ")[0]!, new LiveSource(live), undefined, trigger, device)));
    const view = viewer.view.peek();
    // The view follows the end until it is moved away from it.
    const atEnd = view.to >= view.samples;
    const next = { ...view, samples: live.samples };
    const all = view.from === 0 && atEnd;
    viewer.view.value = all ? { from: 0, to: live.samples, samples: live.samples } : atEnd ? pan(next, 1e12) : next;
    viewer.forget();
  };

  const socket = new Socket(() => `/api/ws/capture?device_id=${encodeURIComponent(device)}&format=binary`, {
    text(message) {
      if (message.type === "capture.state" && message["status"] !== "pending") begin(message as unknown as State);
      if (message.type === "gap") live?.lose(message as unknown as Gap);
      if (message.type === "capture.done" && typeof message["trigger_sample"] === "number") {
        trigger = message["trigger_sample"];
        if (viewer) viewer.trigger.value = trigger;
      }
      if (message.type === "capture.done" || message.type === "capture.error")
        following.ended({ id: String(message["capture_id"]), status: message["status"] as CapturesCapture["status"] });
    },
    bytes(message) {
      live?.add(parseFrame(message));
      if (timer === 0) timer = setTimeout(refresh, REFRESH_MS);
    },
  });
  stop.addEventListener("abort", () => {
    socket.close();
    clearTimeout(timer);
    viewer?.close();
  });
  return socket;
}
