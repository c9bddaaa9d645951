// A capture of ten seconds at 100 MHz that no device recorded: 14 digital and 2 analog lanes whose tiles are computed when
// they are asked for. For measuring the viewer, and for tests that need a capture larger than a demo bench makes.
import { HIGH, LOW, type Part, STRETCHES, type Tile, tileSpan } from "../src/model/tiles.ts";

export const RATE = 100e6;
export const SAMPLES = 1_000_000_000;

/** A number that looks random and depends on `n` alone. */
function hash(n: number): number {
  let h = Math.imul(n ^ 0x9e3779b9, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

type Levels = (from: number, to: number) => number;

/** Bits of the same length, one burst in every period. */
interface Bus {
  readonly period: number;
  readonly offset: number;
  readonly cell: number;
  readonly cells: number;
  readonly idle: 0 | 1;
  bit(burst: number, cell: number): number;
}

const bitOf = (value: number): number => (value ? HIGH : LOW);

function bus({ period, offset, cell, cells, idle, bit }: Bus): Levels {
  const rest = bitOf(idle);
  return (from, to) => {
    let levels = 0;
    const last = Math.floor((to - 1) / period);
    for (let burst = Math.floor(from / period); burst <= last; burst++) {
      const start = burst * period + offset;
      if (from < start || to > start + cells * cell) levels |= rest;
      const a = Math.max(0, Math.floor((from - start) / cell));
      const b = Math.min(cells - 1, Math.floor((to - 1 - start) / cell));
      if (b - a > 48) return LOW | HIGH;
      for (let i = a; i <= b; i++) levels |= bitOf(bit(burst, i));
      if (levels === (LOW | HIGH)) return levels;
    }
    return levels;
  };
}

// I²C at 400 kHz: a transfer each millisecond of address and four bytes; a bit takes four cells.
const I2C = { period: 100_000, offset: 12_000, cell: 62, cells: 4 * (1 + 9 * 5 + 1), idle: 1 } as const;
export const i2cByte = (burst: number, byte: number): number => (byte === 0 ? 0x68 * 2 + (burst & 1) : hash(burst * 8 + byte) & 0xff);
function i2cBit(burst: number, bit: number): number {
  const byte = Math.floor((bit - 1) / 9);
  const at = (bit - 1) % 9;
  return at === 8 ? (byte === 4 ? 1 : 0) : (i2cByte(burst, byte) >> (7 - at)) & 1;
}
const scl = bus({ ...I2C, bit: (_, cell) => {
  const [bit, phase] = [cell >> 2, cell & 3];
  if (bit === 0) return phase < 3 ? 1 : 0;
  if (bit === 46) return phase < 1 ? 0 : 1;
  return phase === 1 || phase === 2 ? 1 : 0;
} });
const sda = bus({ ...I2C, bit: (burst, cell) => {
  const [bit, phase] = [cell >> 2, cell & 3];
  if (bit === 0) return phase < 2 ? 1 : 0;
  if (bit === 46) return phase < 2 ? 0 : 1;
  return i2cBit(burst, bit);
} });

// UART at 115200 baud: a line of text every 20 ms.
export const UART = { period: 2_000_000, offset: 300_000, cell: 868, cells: 10 * 32, idle: 1 } as const;
export const uartText = (burst: number): string => `[${String(burst * 20).padStart(6, "0")}] T=${20 + (hash(burst) % 80) / 10} C ok\r\n`.padEnd(32, " ");
const frameBit = (code: number, bit: number): number => (bit === 0 ? 0 : bit === 9 ? 1 : (code >> (bit - 1)) & 1);
const tx = bus({ ...UART, bit: (burst, cell) => frameBit(uartText(burst).charCodeAt(Math.floor(cell / 10)), cell % 10) });
const rx = bus({ period: 70_000_000, offset: 9_000_000, cell: 868, cells: 80, idle: 1, bit: (burst, cell) => frameBit(0x41 + (hash(burst + cell) % 26), cell % 10) });

// SPI at 10 MHz: 256 bytes every 10 ms.
export const SPI = { period: 1_000_000, offset: 400_000, cell: 5, cells: 256 * 20 } as const;
const sck = bus({ ...SPI, idle: 0, bit: (_, cell) => (cell % 20 < 16 ? cell & 1 : 0) });
const spiBit = (salt: number) => (burst: number, cell: number): number => (hash(burst * 4096 + Math.floor(cell / 20) + salt) >> (7 - ((cell % 20) >> 1))) & 1;
const mosi = bus({ ...SPI, idle: 0, bit: spiBit(0) });
const miso = bus({ ...SPI, idle: 1, bit: spiBit(977) });
const cs: Levels = bus({ ...SPI, offset: SPI.offset - 500, cell: SPI.cells * SPI.cell + 1000, cells: 1, idle: 1, bit: () => 0 });

/** High for the first `duty` of each period. */
function pulses(period: number, duty: (n: number) => number, phase = 0): Levels {
  return (from, to) => {
    if (to - from >= 2 * period) return LOW | HIGH;
    let levels = 0;
    for (let n = Math.floor((from - phase) / period); n * period + phase < to; n++) {
      const start = n * period + phase;
      const turn = start + Math.round(period * duty(n));
      if (from < turn && to > start) levels |= HIGH;
      if (from < start + period && to > turn) levels |= LOW;
    }
    return levels;
  };
}
const after = (sample: number): Levels => (from, to) => (from < sample ? LOW : 0) | (to > sample ? HIGH : 0);
const slow = (n: number): number => 0.5 + 0.4 * Math.sin(n / 9000);

const DIGITAL: readonly (readonly [string, Levels])[] = [
  ["SCL", scl], ["SDA", sda], ["UART TX", tx], ["UART RX", rx], ["SPI SCK", sck], ["SPI MOSI", mosi], ["SPI MISO", miso], ["SPI CS#", cs],
  ["PWM A", pulses(5_000, slow)],
  ["PWM B", pulses(5_000, (n) => 1 - slow(n), 40)],
  ["TICK", pulses(100_000, () => 0.1)],
  ["IRQ#", pulses(1_730_000, (n) => 0.9 + (hash(n) % 90) / 1000)],
  ["LED", pulses(50_000_000, () => 0.5)],
  ["PGOOD", after(81_234_567)],
];

function vbus(sample: number): number {
  const t = sample / RATE;
  const rise = t < 0.8 ? 0 : 5.02 * (1 - Math.exp(-(t - 0.8) * 18));
  return rise + 0.06 * Math.sin(t * 628.3) + ((hash(sample) & 1023) / 1023 - 0.5) * 0.05;
}
function current(sample: number): number {
  const inBurst = sample % SPI.period;
  const busy = inBurst > SPI.offset && inBurst < SPI.offset + 30_000;
  const led = sample % 50_000_000 < 25_000_000 ? 12 : 0;
  return sample < 80_000_000 ? 0.3 : 34 + led + (busy ? 21 : 0) + ((hash(sample ^ 0x55) & 1023) / 1023 - 0.5) * 3;
}
const ANALOG: readonly (readonly [string, string, (sample: number) => number])[] = [["VBUS", "V", vbus], ["ITARGET", "mA", current]];

export const LANES = [
  ...DIGITAL.map(([name]) => ({ name, kind: "digital", unit: "" }) as const),
  ...ANALOG.map(([name, unit]) => ({ name, kind: "analog", unit }) as const),
];

export function tile(level: number, index: number): Tile {
  const stretch = 2 ** level;
  const start = index * tileSpan(level);
  const count = Math.max(0, Math.min(STRETCHES, Math.ceil((SAMPLES - start) / stretch)));
  const parts: Part[] = DIGITAL.map(([, levels]) => {
    const all = new Uint8Array(count);
    for (let i = 0; i < count; i++) all[i] = levels(start + i * stretch, start + (i + 1) * stretch);
    return { kind: "digital", levels: all };
  });
  for (const [, , value] of ANALOG) {
    const min = new Float32Array(count);
    const max = new Float32Array(count);
    const looks = Math.min(stretch, 24);
    for (let i = 0; i < count; i++) {
      let [low, high] = [Infinity, -Infinity];
      for (let k = 0; k < looks; k++) {
        const v = value(Math.floor(start + (i + k / looks) * stretch));
        if (v < low) low = v;
        if (v > high) high = v;
      }
      min[i] = low;
      max[i] = high;
    }
    parts.push({ kind: "analog", min, max });
  }
  return { level, index, parts };
}

const hex = (value: number): string => value.toString(16).toUpperCase().padStart(2, "0");

/** What an I²C decoder says about a burst, in the order in which sigrok's says it. */
export function i2cLines(burst: number): string {
  const start = burst * I2C.period + I2C.offset;
  const at = (bit: number): number => start + bit * 4 * I2C.cell;
  const lines = [[at(0) + 124, at(0) + 124, "start", "Start"]];
  const read = burst & 1;
  for (let byte = 0; byte < 5; byte++) {
    const from = 1 + byte * 9;
    const value = i2cByte(burst, byte);
    const way = read ? "read" : "write";
    if (byte === 0) {
      lines.push([at(from + 7), at(from + 8), `address-${way}`, read ? "Read" : "Write"]);
      lines.push([at(from), at(from + 7), `address-${way}`, `Address ${way}: ${hex(value >> 1)}`]);
    } else lines.push([at(from), at(from + 8), `data-${way}`, `Data ${way}: ${hex(value)}`]);
    lines.push([at(from + 8), at(from + 9), byte === 4 ? "nack" : "ack", byte === 4 ? "NACK" : "ACK"]);
  }
  lines.push([at(46) + 124, at(46) + 124, "stop", "Stop"]);
  return lines.map(([from, to, kind, text]) => JSON.stringify({ start: from, end: to, decoder: "i2c", class: kind, text }) + "\n").join("");
}

export function uartLines(burst: number): string {
  const start = burst * UART.period + UART.offset;
  return [...uartText(burst)]
    .map((c, i) => JSON.stringify({ start: start + i * 8680, end: start + (i + 1) * 8680, decoder: "uart", class: "rx-data", text: c < " " ? `[${hex(c.charCodeAt(0))}]` : c }) + "\n")
    .join("");
}

/** A log of a job with `lines` lines in steps, some in colours. */
export function jobLog(lines: number): string {
  const out: string[] = [];
  const steps = 40;
  const each = Math.ceil(lines / steps);
  for (let step = 0; step < steps; step++) {
    out.push(`== ${["configure", "compile", "link", "size", "flash", "boot", "self-test", "soak"][step % 8]} ${Math.floor(step / 8) + 1}`);
    for (let i = 0; i < each; i++) {
      const n = hash(step * each + i);
      if (n % 97 === 0) out.push(`\u001b[33mwarning:\u001b[0m unused variable \u001b[1m'tmp${n % 13}'\u001b[0m in src/module_${n % 400}.c:${n % 900}`);
      else if (n % 4999 === 0) out.push(`\u001b[1;31merror:\u001b[0m assertion failed at src/module_${n % 400}.c:${n % 900}`);
      else if (n % 3 === 0) out.push(`[${String(Math.floor((100 * i) / each)).padStart(3)}%] \u001b[32mBuilding C object\u001b[0m CMakeFiles/fw.dir/src/module_${n % 400}.c.obj`);
      else out.push(`arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -Os -std=c11 -c src/module_${n % 400}.c -o build/module_${n % 400}.o -DREV=${n % 17}`);
    }
    out.push(`-- ${step}: ${step === 38 ? "failed" : "passed"}`);
  }
  return out.join("\n") + "\n";
}
