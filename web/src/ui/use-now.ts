// Draws again every so often, for what shows an age.
import { useEffect, useState } from "preact/hooks";

/** Milliseconds of the page's clock; 0 is never. */
export function useNow(everyMs: number): number {
  const [, tick] = useState(0);
  useEffect(() => {
    if (everyMs === 0) return;
    const timer = setInterval(() => tick((n) => n + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return performance.now();
}
