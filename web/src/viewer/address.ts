// What of a viewer stands in its address, so that a link shows what its sender saw.
import { zoom } from "../model/axis.ts";
import { decodingText, parseDecoding } from "../model/decoding.ts";
import type { Viewer } from "./viewer.ts";

/** Longer rules are not put into the address: some programs cut it off. */
const RULES_MAX = 1500;

/** Members of the query; reading it subscribes to all that they say. */
export function addressOf(viewer: Viewer): Readonly<Record<string, string | readonly string[] | undefined>> {
  const { from, to } = viewer.view.value;
  const { a, b } = viewer.cursors.value;
  const all = to - from >= viewer.source.samples;
  const text = (n: number | undefined): string | undefined => (n === undefined ? undefined : String(Math.round(n)));
  return {
    from: all ? undefined : text(from),
    to: all ? undefined : text(to),
    at: undefined,
    for: undefined,
    a: text(a),
    b: text(b),
    lane: viewer.selected.value > 0 ? String(viewer.selected.value) : undefined,
    rules: viewer.rules.value.length <= RULES_MAX ? viewer.rules.value : undefined,
    find: viewer.sought.value,
    golden: viewer.compareWith.value,
    aside: viewer.showsAside.value ? undefined : "off",
    decoder: viewer.decoders.value.map(({ decoding }) => decodingText(decoding)),
  };
}

/** Puts a viewer where its address says; `decoders` are those of an address that names none. */
export function restore(viewer: Viewer, asked: URLSearchParams, decoders: readonly string[]): void {
  const number = (name: string): number | undefined => {
    const value = Number(asked.get(name) ?? NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  const [from, to, a, b, lane] = ["from", "to", "a", "b", "lane"].map(number);
  if (from !== undefined && to !== undefined && to > from) viewer.view.value = zoom({ from, to, samples: viewer.source.samples }, 0.5, 1);
  // Other pages know seconds from the first sample.
  const [at, long] = ["at", "for"].map(number);
  if (at !== undefined && long !== undefined && long > 0 && from === undefined) viewer.view.value = zoom({ from: at * viewer.source.rate, to: (at + long) * viewer.source.rate, samples: viewer.source.samples }, 0.5, 1);
  viewer.cursors.value = { ...(a === undefined ? {} : { a }), ...(b === undefined ? {} : { b }) };
  if (lane !== undefined && viewer.source.lanes[lane]) viewer.selected.value = lane;
  viewer.rules.value = asked.get("rules") ?? "";
  viewer.sought.value = asked.get("find") ?? "";
  viewer.showsAside.value = asked.get("aside") !== "off";
  const golden = asked.get("golden");
  if (golden) viewer.compareWith.value = golden;
  for (const decoding of asked.has("decoder") ? asked.getAll("decoder").filter(Boolean) : decoders) viewer.addDecoder(parseDecoding(decoding));
}
