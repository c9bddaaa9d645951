// Catches the fault of a page, so that the rest of the application stays usable.
import { Component, type ComponentChildren } from "preact";
import { failureOf } from "../api/client.ts";
import { Trouble } from "../ui/states.tsx";

export class Boundary extends Component<{ at: string; children: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  /** Another page is another chance. */
  override componentDidUpdate({ at }: { at: string }): void {
    if (at !== this.props.at && this.state.error !== undefined) this.setState({ error: undefined });
  }

  override componentDidCatch(error: unknown): void {
    // The browser's log has the stack, for a report of the fault.
    console.error(error);
    this.setState({ error });
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <main class="page">
        <div class="head"><h1>This page has a fault</h1></div>
        <Trouble failure={failureOf(this.state.error)} again={() => this.setState({ error: undefined })} />
      </main>
    );
  }
}
