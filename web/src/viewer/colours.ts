// The colours of the waves, as the style sheet has them now.
import { type Colour, type Ink, colourOf, inkOf, mixed } from "../model/pixels.ts";

export interface Colours {
  readonly family: string;
  readonly back: string;
  readonly text: string;
  readonly quiet: string;
  readonly cursor: string;
  readonly accent: string;
  readonly good: string;
  readonly bad: string;
  readonly ground: Colour;
  readonly grid: Colour;
  /** Hatching over what was lost. */
  readonly lost: Colour;
  readonly lanes: readonly Ink[];
  /** Of a capture that is laid over this one. */
  readonly golden: Ink;
  readonly kinds: Readonly<Record<string, Ink>>;
}

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const ground = colourOf(of("wave-back"));
  const ink = (name: string): Ink => inkOf(colourOf(of(name)), ground);
  return {
    family: style.fontFamily,
    back: of("wave-back"),
    text: of("text"),
    quiet: of("text-quiet"),
    cursor: of("cursor"),
    accent: of("accent"),
    good: of("ok"),
    bad: of("bad"),
    ground,
    grid: colourOf(of("wave-line")),
    lost: mixed(ground, colourOf(of("warn")), 0.6),
    golden: ink("text"),
    lanes: Array.from({ length: 8 }, (_, i) => ink(`lane-${i}`)),
    kinds: { address: ink("kind-address"), data: ink("kind-data"), ack: ink("kind-ack"), bad: ink("kind-bad"), edge: ink("kind-edge") },
  };
}

/** Kinds of annotations that mean the same have the same colour. */
export function kindOf(kind: string): string {
  if (kind.startsWith("address") || kind === "step" || kind === "select") return "address";
  if (kind === "nack" || kind === "lost" || /warning|error|break/.test(kind)) return "bad";
  if (kind === "ack" || kind === "rail") return "ack";
  return kind === "start" || kind === "stop" || kind === "repeat-start" ? "edge" : "data";
}
