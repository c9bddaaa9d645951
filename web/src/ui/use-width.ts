// How wide an element is, for what is drawn in it.
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** `usual` is taken until it is known. */
export function useWidth<T extends Element>(usual: number): readonly [box: RefObject<T | null>, width: number] {
  const box = useRef<T>(null);
  const [width, measure] = useState(usual);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => measure(entry!.contentRect.width));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  return [box, width];
}
