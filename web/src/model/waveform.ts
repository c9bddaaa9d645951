// Waveforms as levels: from codes to a plot's tiles, from texts and captures to samples. Pure.
import type { WaveformsPreview } from "../api/schema.ts";
import { type Lane, type Tile, type TileSource, stretchesIn, tileSpan } from "./tiles.ts";

export const OUTPUTS = {
  "3v3": { name: "3.3 V output", low: 0, high: 3.3, unit: "V" },
  "5v": { name: "5 V output", low: 0, high: 5, unit: "V" },
  "12v": { name: "±12 V output", low: -12, high: 12, unit: "V" },
  current_out: { name: "4–20 mA output", low: 4, high: 20, unit: "mA" },
} as const;
export type Output = keyof typeof OUTPUTS;
export const isOutput = (text: string | null): text is Output => text !== null && text in OUTPUTS;

const FULL = 65_535;

/** The codes of a preview, as one analog lane. */
export class PreviewSource implements TileSource {
  readonly lanes: readonly Lane[];
  readonly samples: number;
  readonly rate: number;
  readonly levels: Float32Array;

  constructor({ codes, low, high, unit, sample_rate_hz, dac_path }: WaveformsPreview) {
    this.levels = Float32Array.from(codes, (code) => low + (code / FULL) * (high - low));
    this.samples = codes.length;
    this.rate = sample_rate_hz || 1;
    this.lanes = [{ name: OUTPUTS[dac_path].name, kind: "analog", unit }];
  }

  load(level: number, index: number): Promise<Tile> {
    const stretch = 2 ** level;
    const start = index * tileSpan(level);
    const count = stretchesIn(this.samples, level, index);
    const [min, max] = [new Float32Array(count).fill(Infinity), new Float32Array(count).fill(-Infinity)];
    for (let i = 0; i < count; i++)
      for (const value of this.levels.subarray(start + i * stretch, start + (i + 1) * stretch)) {
        if (value < min[i]!) min[i] = value;
        if (value > max[i]!) max[i] = value;
      }
    return Promise.resolve({ level, index, parts: [{ kind: "analog", min, max }] });
  }
}

/** How often an output is at its end, where a signal that it cannot reach is cut. */
export function summary(levels: Float32Array, { low, high }: { readonly low: number; readonly high: number }) {
  let [min, max, cut] = [Infinity, -Infinity, 0];
  const near = (high - low) / FULL / 2;
  for (const value of levels) {
    if (value < min) min = value;
    if (value > max) max = value;
    if (value <= low + near || value >= high - near) cut++;
  }
  return { min, max, cut: levels.length ? cut / levels.length : 0 };
}

/** Levels from a text: the last number of each line, so a column of values or "time,value"; lines without one are left out. */
export function levelsOf(text: string): readonly number[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const last = line.trim().split(/[,;\s]+/).at(-1) ?? "";
    const value = last === "" ? NaN : Number(last);
    return Number.isFinite(value) ? [value] : [];
  });
}

/** A recording's samples, little-endian, and the level of the highest one. Levels below 0 cannot be kept. */
export function recordingOf(levels: readonly number[]): { readonly samples: ArrayBuffer; readonly fullScale: number } {
  const fullScale = levels.reduce((most, one) => Math.max(most, one), 0) || 1;
  const view = new DataView(new ArrayBuffer(levels.length * 2));
  levels.forEach((level, i) => view.setUint16(i * 2, Math.round((Math.min(Math.max(level, 0), fullScale) / fullScale) * FULL), true));
  return { samples: view.buffer as ArrayBuffer, fullScale };
}
