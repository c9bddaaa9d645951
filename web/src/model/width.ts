// How many columns of a screen characters take: East Asian ones and emoji two, marks that combine with the one before none.
// The tables are the browser's own. Pure.

const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
/** Medial vowels and final consonants of Hangul join the consonant before. */
const JOINING = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;
const MODIFIER = /\p{Emoji_Modifier}/u;
const FLAG = /^\p{Regional_Indicator}$/u;
const PICTURE = /\p{Extended_Pictographic}/u;

const JOINER = "\u200d";
/** Asks for the coloured form of the sign before, which is as wide as an emoji. */
const COLOURED = "\ufe0f";

/** Below this every character takes one column, and looking at its code is enough. */
export const PLAIN_END = 0x300;

/** Set where a character may stand in the place of the one before. */
const MAY_JOIN = 4;

/** What was looked up, plus one. */
const known = new Uint8Array(0x20000);

function kindOf(code: number): number {
  const kept = known[code];
  if (kept) return kept - 1;
  const sign = String.fromCodePoint(code);
  const width = JOINING.test(sign) ? 0 : WIDE.test(sign) ? 2 : 1;
  const kind = width | (width === 0 || PICTURE.test(sign) || MODIFIER.test(sign) || FLAG.test(sign) ? MAY_JOIN : 0);
  if (code < known.length) known[code] = kind + 1;
  return kind;
}

const widthOfCode = (code: number): number => kindOf(code) & 3;

/** Whether a character may stand in the place of the one before; what that is decides. */
export const mayJoin = (sign: string): boolean => (kindOf(sign.codePointAt(0)!) & MAY_JOIN) !== 0;

/** Columns of what stands in one place: a character with all that joins it. */
export function widthOf(cluster: string): number {
  const width = widthOfCode(cluster.codePointAt(0)!);
  return width === 1 && cluster.length > 1 && cluster.includes(COLOURED) && PICTURE.test(cluster) ? 2 : width;
}

/** Whether `next`, one character, stands in the same place as what came before. */
export function joins(before: string, next: string): boolean {
  if (widthOfCode(next.codePointAt(0)!) === 0) return true;
  if (before.endsWith(JOINER)) return PICTURE.test(next);
  return (MODIFIER.test(next) && PICTURE.test(before)) || (FLAG.test(next) && FLAG.test(before));
}

/** Whether each unit of a text is one character of one column. */
export function isNarrow(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= PLAIN_END && (kindOf(code) !== 1 || (code >= 0xd800 && code < 0xe000))) return false;
  }
  return true;
}

/** What stands in each place of a text. */
export function clusters(text: string): string[] {
  const all: string[] = [];
  for (const sign of text) {
    const last = all.length - 1;
    if (last >= 0 && joins(all[last]!, sign)) all[last] += sign;
    else all.push(sign);
  }
  return all;
}
