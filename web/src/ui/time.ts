// Times of the day and amounts as people say them. Pure.

/** A thin space between thousands, as in technical papers. */
const THIN = "\u202f";

export function ago(iso: string | null | undefined, now = Date.now()): string {
  if (!iso) return "never";
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000);
  if (seconds < 10) return "just now";
  return `${rough(seconds)} ago`;
}

export function rough(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

export function between(from: string | null | undefined, to: string | null | undefined, now = Date.now()): string {
  if (!from) return "–";
  const seconds = Math.max(0, Math.round(((to ? Date.parse(to) : now) - Date.parse(from)) / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

export const count = (n: number): string => n.toLocaleString("en").replaceAll(",", THIN);

/** `1.4 MB`: powers of ten, as disks are sold. */
export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  const power = Math.min(3, Math.floor(Math.log10(n) / 3));
  const value = n / 1000 ** power;
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${["B", "kB", "MB", "GB"][power]}`;
}

/** The word for one or for several: `4 devices`. */
export const several = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;
