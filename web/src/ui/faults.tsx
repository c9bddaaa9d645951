// What is wrong in a text that a person wrote, with its lines.
import type { Fault } from "../model/rules.ts";

export const Faults = ({ faults }: { faults: readonly Fault[] }) => (
  <div class="faults" role="alert">
    <ul>{faults.map(({ line, message }, i) => <li key={i}>{line !== undefined && <b>Line {line}: </b>}{message}</li>)}</ul>
  </div>
);
