// What is new, worse and gone in a version of a board against another. Pure.
import type { EmiDiff, EmiPerSeverity } from "../api/schema.ts";

/** Why a finding is not as before. `perhaps`: one of the versions does not list all findings of the rule. `was` is a severity. */
export type Change = { readonly kind: "new" | "perhaps" } | { readonly kind: "was"; readonly was: string };

/** By fingerprint; what is as before is not in it. */
export function changesOf({ new: fresh, kept }: Pick<EmiDiff, "new" | "kept">): ReadonlyMap<string, Change> {
  return new Map<string, Change>([
    ...kept.flatMap(({ fingerprint, was }): [string, Change][] => (was === undefined ? [] : [[fingerprint, { kind: "was", was }]])),
    ...fresh.map(({ fingerprint, certain }): [string, Change] => [fingerprint, { kind: certain ? "new" : "perhaps" }]),
  ]);
}

const sum = ({ critical, warning, info }: EmiPerSeverity): number => critical + warning + info;

/** `2 new, 1 worse, 4 gone, 4 as before`. */
export function summaryOf({ new: fresh, worse, gone, kept, perhaps_new, perhaps_gone }: EmiDiff["summary"]): string {
  const counts = [[sum(fresh), "new"], [sum(perhaps_new), "perhaps new"], [sum(worse), "worse"], [sum(gone), "gone"], [sum(perhaps_gone), "perhaps gone"], [sum(kept), "as before"]] as const;
  return counts.filter(([count, word]) => count > 0 || word === "new" || word === "gone").map(([count, word]) => `${count} ${word}`).join(", ");
}
