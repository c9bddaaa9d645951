// The phases of a flash and of an update as steps, and what to do about a failure. Pure.
import type { DevicesFlash, UpdatesUpdate } from "../api/schema.ts";

export type StepState = "waiting" | "running" | "done" | "failed";

export interface Step {
  readonly name: string;
  readonly state: StepState;
}

const FLASH = [
  ["preparing", "Prepare"],
  ["connecting", "Connect"],
  ["erasing", "Erase"],
  ["programming", "Program"],
  ["verifying", "Verify"],
  ["resetting", "Start"],
] as const;

const UPDATE = [
  ["transferring", "Send"],
  ["verifying", "Verify"],
  ["staged", "Stage"],
  ["installing", "Install"],
  ["rebooting", "Restart"],
] as const;

/** Steps by a phase. Of one that has failed, `reached` is the phase that was seen last, if it is known. */
function steps(all: readonly (readonly [phase: string, name: string])[], phase: string, reached: string | undefined): readonly Step[] {
  const failed = phase === "failed" || phase === "cancelled" || phase === "aborted";
  const at = phase === "done" ? all.length : all.findIndex(([one]) => one === (failed ? reached : phase));
  return all.map(([, name], i) => ({ name, state: i < at ? "done" : i > at || at < 0 ? "waiting" : failed ? "failed" : "running" }));
}

export const flashSteps = ({ phase }: Pick<DevicesFlash, "phase">, reached?: string): readonly Step[] => steps(FLASH, phase, reached);
export const updateSteps = ({ phase }: Pick<UpdatesUpdate, "phase">, reached?: string): readonly Step[] => steps(UPDATE, phase, reached);

export const isFlashing = ({ finished_at }: Pick<DevicesFlash, "finished_at">): boolean => finished_at === null;
export const isUpdating = ({ phase }: Pick<UpdatesUpdate, "phase">): boolean => !["idle", "done", "failed", "aborted"].includes(phase);

type Code = NonNullable<DevicesFlash["code"]>;

/** What a person can do about a failure, besides what the server's sentence says; docs/flashing.md has the codes. */
const ADVICE: Partial<Record<Code, string>> = {
  no_target: "If its firmware uses these pins, connect under reset.",
  target_lost: "Flash again.",
  wrong_target: "Choose the chip that is there, or allow another one in the options.",
  target_locked: "OpenOCD over a tunnel can do that.",
  outside_memory: "It was linked for another chip.",
  attach_failed: "Check the wires, and try a lower speed or connecting under reset.",
  verify_failed: "Flash again. If it stays so, the flash of the chip is worn out or protected.",
  device_lost: "The firmware on the chip may be incomplete: flash again as soon as the device is online.",
  device_offline: "Flash again as soon as the device is online.",
  lease_lost: "Somebody else's lease began, or this one ended. Flash again when the device is free.",
};

export const adviceFor = (code: Code | undefined): string | undefined => code && ADVICE[code];

/** `0x08000000` */
export const hexAddress = (address: number): string => `0x${address.toString(16).padStart(8, "0")}`;
