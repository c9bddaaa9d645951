// What is wrong in a text that a person wrote, with its lines.
import { type Failure, sentence } from "../api/client.ts";

export const Faults = ({ problems }: Pick<Failure, "problems">) => (
  <div class="faults" role="alert">
    <ul>{problems.map(({ line, message }, i) => <li key={i}><b>Line {line}: </b>{sentence(message)}</li>)}</ul>
  </div>
);
