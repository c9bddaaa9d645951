// WebSockets that are played here for measuring: a console that is flooded, and the log of a job of 100,000 lines. Development only.
import { createHash } from "node:crypto";

const KEY = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const CHUNK = 64 * 1024;

/** Answers an upgrade; `text` and `bytes` resolve when the other side has room again. */
function accepted(request, socket) {
  const key = createHash("sha1").update(request.headers["sec-websocket-key"] + KEY).digest("base64");
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  // What the page says, and its closing, are of no interest.
  socket.on("data", (data) => (data[0] & 15) === 8 && socket.end());
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`);
  let resume = () => {};
  for (const event of ["drain", "close"]) socket.on(event, () => resume());
  const send = async (opcode, data) => {
    if (socket.destroyed) return;
    const head = data.length < 126 ? Buffer.of(128 | opcode, data.length) : data.length < 65536 ? Buffer.of(128 | opcode, 126, data.length >> 8, data.length & 255) : Buffer.alloc(10);
    if (head.length === 10) {
      head[0] = 128 | opcode;
      head[1] = 127;
      head.writeBigUInt64BE(BigInt(data.length), 2);
    }
    socket.cork();
    socket.write(head);
    const hasRoom = socket.write(data);
    socket.uncork();
    if (!hasRoom) await new Promise((later) => (resume = later));
  };
  return { text: (message) => send(1, Buffer.from(JSON.stringify(message))), bytes: (data) => send(2, data) };
}

/** What firmware writes: plain lines, coloured ones, and some that are not of this alphabet. */
function lines() {
  const all = [];
  for (let i = 0; all.length < 1200; i++) {
    const stamp = `[${String(i).padStart(8)}]`;
    all.push(i % 10 === 3 ? `${stamp} \x1b[33mWARN\x1b[0m  adc: \x1b[1mreading ${i * 37 % 4096}\x1b[0m is out of range` : i % 100 === 7 ? `${stamp} 温度 25 °C 湿度 40 %` : `${stamp} I2C1 0x68 read 7 bytes: 30 35 23 01 10 03 13, took ${i % 97} us`);
  }
  return Buffer.from(all.join("\r\n") + "\r\n");
}

/** Sends `megabytes` to a console as fast as it takes them, then a line that says so. */
export async function flood(request, socket, megabytes) {
  const line = accepted(request, socket);
  await line.text({ type: "open", device_id: "", rx: 3, tx: 4, baud: 4_000_000, writable: true, offset: 0, because: "connected" });
  // The page is there and its frames are counted.
  await new Promise((later) => setTimeout(later, 1500));
  const text = lines();
  for (let sent = 0; sent < megabytes * 1e6; sent += text.length) for (let at = 0; at < text.length; at += CHUNK) await line.bytes(text.subarray(at, at + CHUNK));
  await line.bytes(Buffer.from("\r\nTHE END OF IT\r\n"));
}

export const JOB = "synthetic";

/** The record of the job whose log is played. */
export function job() {
  const attempt = { number: 1, run: "build.f0", outcome: "passed", code: null, device: null, message: "", log_bytes: 9e6, assigned_at: "2026-11-28T10:00:00Z", started_at: "2026-11-28T10:00:01Z", ended_at: "2026-11-28T10:00:08Z" };
  return { id: JOB, name: "played", state: "finished", verdict: "success", status: "done", ended_because: "completed", ref: "main", commit: null, user: "owner", archive: null, retry_of: null, message: "", created_at: "2026-11-28T10:00:00Z", started_at: "2026-11-28T10:00:01Z", finished_at: "2026-11-28T10:00:08Z", attempts: [attempt] };
}

/** Its log as a server sends it: what steps wrote in pieces, and where they begin and end. */
export async function log(request, socket, text) {
  const line = accepted(request, socket);
  let offset = 0;
  const say = async (stream, part) => {
    for (let at = 0; at < part.length; at += CHUNK) {
      const piece = part.slice(at, at + CHUNK);
      await line.text({ type: "output", attempt: 1, stream, offset, bytes: piece.length, step: 0, text: piece });
      offset += piece.length;
    }
  };
  for (const part of text.split(/^(?=(?:==|--) )/m)) {
    const end = part.indexOf("\n") + 1;
    await say("server", part.slice(0, end));
    await say("output", part.slice(end));
  }
}
