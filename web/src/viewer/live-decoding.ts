// A decoder of the server that reads a capture while it arrives: a socket of its own, without the frames.
import { effect } from "@preact/signals";
import { sentence } from "../api/client.ts";
import { Socket } from "../api/socket.ts";
import type { Decoding } from "../model/decoding.ts";
import { EVENTS_MAX, type Said } from "./decoding.ts";

export interface Hearing {
  said(events: readonly Said[]): void;
  /** More is said than the page keeps. */
  full(): void;
  done(): void;
  failed(message: string): void;
}

const REFUSED = "The server does not decode this while it arrives: look at its channels and options, or open the capture once it is done.";
const TOO_SLOW = "This page was too slow to decode while the capture arrives. Open the capture once it is done.";

export class LiveDecoding {
  #socket: Socket;
  #stop: () => void;
  #isOver = false;

  constructor(device: string, capture: string, { protocol, channels, options }: Decoding, annotations: string | undefined, hearing: Hearing) {
    const query = new URLSearchParams({ device_id: device, capture_id: capture, frames: "none", protocol, ...channels, ...options, ...(annotations ? { annotations } : {}) });
    let [kept, again, opened] = [0, 0, false];
    const over = (then: () => void): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#socket.close();
      then();
    };
    this.#socket = new Socket(() => `/api/ws/capture?${query}`, {
      text: (message) => {
        // A connection that comes back begins with what is known already, in the same order.
        if (message.type === "hello") [again, opened] = [kept, true];
        if (message["capture_id"] !== capture) return;
        if (message.type === "annotations") {
          const events = message["events"] as readonly Said[];
          const fresh = events.slice(again, again + EVENTS_MAX - kept);
          if (kept < EVENTS_MAX && kept + fresh.length >= EVENTS_MAX) hearing.full();
          again = Math.max(0, again - events.length);
          kept += fresh.length;
          if (fresh.length > 0) hearing.said(fresh);
        }
        if (message.type === "annotations.error") over(() => hearing.failed(sentence(String(message["error"]))));
        if (message.type === "capture.done" || message.type === "capture.error") over(() => hearing.done());
      },
    });
    this.#stop = effect(() => {
      const line = this.#socket.line.value;
      if (line.state === "closed") over(() => hearing.failed(line.reason.startsWith("too_slow") ? TOO_SLOW : `The server ended the decoding${line.reason ? `: ${line.reason}` : ""}.`));
      // Of a refusal a page is given no reason.
      if (line.state === "lost" && !opened) over(() => hearing.failed(REFUSED));
    });
  }

  close(): void {
    this.#isOver = true;
    this.#stop();
    this.#socket.close();
  }
}
