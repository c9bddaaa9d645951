// Search in the whole capture: a query in words, its places in the plot and as a list.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useAction } from "../api/action.ts";
import { instant } from "../model/axis.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Trouble } from "../ui/states.tsx";
import { count } from "../ui/time.ts";
import type { Lookups } from "./lookups.ts";
import type { Viewer } from "./viewer.ts";

/** So many places are asked for at once, and so many of them are listed. */
const PLACES_MAX = 1000;
const LISTED_MAX = 200;

const EXAMPLES = ["rising edge on LA1", "pulse on LA1 shorter than 1 us", "no edge on LA1 for 10 ms", "i2c nack", "bytes 55 ?? 01 on uart"];

export function FindPanel({ viewer, lookups }: { viewer: Viewer; lookups: Lookups }) {
  const words = useSignal(viewer.sought.peek());
  const found = useSignal<{ readonly results: readonly { from: number; to: number; text: string }[]; readonly more: boolean } | undefined>(undefined);
  const at = useSignal(-1);
  const stop = useRef(new AbortController());
  const finding = useAction(async () => {
    stop.current.abort();
    stop.current = new AbortController();
    viewer.sought.value = words.peek().trim();
    const { results, next } = await lookups.search(words.peek(), 0, PLACES_MAX, stop.current.signal);
    found.value = { results, more: next !== undefined && next !== null };
    viewer.places.value = results;
    at.value = -1;
    if (results.length > 0 && moves.current) show(0);
    moves.current = true;
  });
  // What a link searched for is found again, at the view that it shows.
  const moves = useRef(words.peek() === "");
  useEffect(() => {
    if (words.peek()) void finding.run();
    return () => stop.current.abort();
  }, [viewer]);
  const show = (index: number): void => {
    const results = found.peek()?.results ?? [];
    at.value = (index + results.length) % results.length;
    const place = results[at.peek()];
    if (place) viewer.goTo(place.from, place.to);
  };
  const clear = (): void => {
    found.value = undefined;
    viewer.places.value = [];
    viewer.sought.value = "";
  };
  const known = found.value;
  return (
    <section class="panel" aria-label="Search">
      <h2>Search {known && <Button icon="cross" label="Clear the search" hidden onClick={clear} />}</h2>
      <form class="find" onSubmit={(event) => {
        event.preventDefault();
        if (words.value.trim()) void finding.run();
      }}>
        <span class="search"><Icon name="search" /><input id="find" type="search" aria-label="What to find" placeholder="pulse on LA3 shorter than 1 us" list="find-examples" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} /></span>
        <Button type="submit" label="Find" busy={finding.busy.value} />
      </form>
      <datalist id="find-examples">{EXAMPLES.map((example) => <option key={example} value={example} />)}</datalist>
      <Trouble failure={finding.failure.value} />
      {known && (
        <>
          <p class="small found">
            <span role="status">{known.results.length === 0 ? "Nothing is found." : `${known.more ? "the first " : ""}${count(known.results.length)} found${at.value >= 0 ? `, this is ${count(at.value + 1)}` : ""}`}</span>
            {known.results.length > 0 && <><Button icon="left" label="Previous place" hidden onClick={() => show(at.value - 1)} /><Button icon="right" label="Next place" hidden onClick={() => show(at.value + 1)} /></>}
          </p>
          <ol class="places">
            {known.results.slice(0, LISTED_MAX).map(({ from, text }, i) => (
              <li key={i}><button type="button" aria-current={i === at.value ? "true" : undefined} onClick={() => show(i)}><span class="number">{instant(viewer.seconds(from), 1 / viewer.source.rate)}</span> {text}</button></li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
