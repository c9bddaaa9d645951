// The keys of the plot.
const KEYS: readonly (readonly [string, string])[] = [
  ["wheel", "zoom at the pointer"],
  ["drag, shift + wheel", "move"],
  ["+ − , W S", "zoom"],
  ["← →, A D", "move"],
  ["F", "show all"],
  ["N P", "next, previous edge"],
  ["1 2", "cursors"],
  ["M", "marker"],
  ["Esc", "remove cursors and finds"],
];

export const Keys = () => (
  <section class="panel" aria-label="Keys">
    <h2>Keys</h2>
    <dl class="keys">{KEYS.map(([key, does]) => <><dt key={key}>{key}</dt><dd>{does}</dd></>)}</dl>
  </section>
);
