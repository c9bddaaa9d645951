// The output of a job while it is written and afterwards: a log for each of its attempts.
import { signal } from "@preact/signals";
import { Socket } from "../api/socket.ts";
import { Log, readMarks } from "../model/log.ts";

interface Output {
  readonly type: string;
  readonly attempt: number;
  readonly stream: "output" | "error" | "uart" | "server";
  /** Of the first byte in the log of the attempt, and how many bytes it is there. */
  readonly offset: number;
  readonly bytes: number;
  readonly text: string;
}

export class JobLogs {
  readonly logs = new Map<number, Log>();
  /** Grows, at most once a frame, when there is more. */
  readonly edition = signal(0);
  readonly socket: Socket;
  /** How far each log was read: a connection that comes back begins again. */
  #read = new Map<number, number>();
  #frame = 0;

  constructor(job: string) {
    this.socket = new Socket(() => `/api/jobs/${encodeURIComponent(job)}/ws`, {
      text: (message) => {
        if (message.type === "output") this.#output(message as unknown as Output);
        if (message.type === "dropped") this.#dropped(message["attempt"] as number, message["bytes"] as number);
        this.#frame ||= requestAnimationFrame(() => {
          this.#frame = 0;
          this.edition.value++;
        });
      },
    });
  }

  close(): void {
    this.socket.close();
    cancelAnimationFrame(this.#frame);
  }

  #log(attempt: number): Log {
    const known = this.logs.get(attempt) ?? new Log();
    this.logs.set(attempt, known);
    return known;
  }

  #output({ attempt, stream, offset, bytes, text }: Output): void {
    if (offset < (this.#read.get(attempt) ?? 0)) return;
    this.#read.set(attempt, offset + bytes);
    // Steps come from what the server says, not from what a target may have written.
    if (stream === "server") readMarks(this.#log(attempt), text);
    else this.#log(attempt).append(text);
  }

  #dropped(attempt: number, bytes: number): void {
    const log = this.#log(attempt);
    const words = `… ${bytes} bytes are missing here`;
    if (!log.notes.has(words)) log.note(words);
  }
}
