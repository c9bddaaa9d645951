// Asks the server whether a capture shows what rules ask for, and marks the places.
import { type Answer, call } from "../api/client.ts";
import type { Operations } from "../api/schema.ts";
import type { Judged, Viewer } from "./viewer.ts";

export type Verdicts = Answer<"POST /capture/{id}/assert">;
export type Verdict = Verdicts["rules"][number];
export type Place = Verdict["places"][number];

/** So long a rule of one sample is marked. */
const WIDTH_MIN = 1;

export async function judge(viewer: Viewer, who: string, rules: Operations["POST /capture/{id}/assert"]["body"], signal: AbortSignal): Promise<Verdicts> {
  const found = await call("POST /capture/{id}/assert", { path: { id: viewer.capture }, body: rules }, signal);
  viewer.judge(who, found.rules.flatMap((rule) => (rule.verdict === "failed" ? rule.places.map((place) => marked(viewer, place, false)) : [])));
  return found;
}

function marked(viewer: Viewer, place: Place, isGood: boolean): Judged {
  const { from, to } = stretchOf(viewer, place);
  return { from, to, lane: viewer.laneOf(place.channel), isGood };
}

/** Samples of the viewer's axis: those of a slower channel are its own, so times are taken. */
export function stretchOf(viewer: Viewer, { from_s, to_s }: Place): { readonly from: number; readonly to: number } {
  const at = (seconds: number): number => Math.round(seconds * viewer.source.rate) + viewer.zero;
  return { from: at(from_s), to: Math.max(at(from_s) + WIDTH_MIN, at(to_s)) };
}
