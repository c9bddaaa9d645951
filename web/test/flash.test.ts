// The phases of flashes and updates, and wiring profiles as channels.
import assert from "node:assert/strict";
import { test } from "node:test";
import { flashSteps, hexAddress, updateSteps } from "../src/model/flash.ts";
import { FREE, type Profile, isSame, rewired, usesOf, wired } from "../src/model/wiring.ts";

const states = (steps: readonly { readonly state: string }[]): string => steps.map(({ state }) => state[0]).join("");

test("steps before the phase are done, those behind it are to come", () => {
  assert.equal(states(flashSteps({ phase: "preparing" })), "rwwwww");
  assert.equal(states(flashSteps({ phase: "programming" })), "dddrww");
  assert.equal(states(flashSteps({ phase: "done" })), "dddddd");
  assert.equal(states(updateSteps({ phase: "rebooting" })), "ddddr");
});

test("a failure is in the phase that was seen last, and in none that nobody saw", () => {
  assert.equal(states(flashSteps({ phase: "failed" }, "verifying")), "ddddfw");
  assert.equal(states(flashSteps({ phase: "cancelled" }, "erasing")), "ddfwww");
  assert.equal(states(flashSteps({ phase: "failed" })), "wwwwww");
});

test("addresses have eight digits", () => assert.equal(hexAddress(0x0800_0000), "0x08000000"));

const PROFILE: Profile = { uart_rx: 3, uart_tx: 4, i2c_scl: 1, i2c_sda: null, signals: [{ la: 9, name: "led", active_low: true }], la_mv: 3300, version: 1 };

test("a profile is channels and back", () => {
  const uses = usesOf(PROFILE);
  assert.equal(uses.length, 14);
  assert.deepEqual(uses[2], { kind: "role", role: "uart_rx" });
  assert.deepEqual(uses[8], { kind: "signal", signal: { name: "led", active_low: true } });
  const back = wired(PROFILE, uses);
  assert.deepEqual(usesOf(back), uses);
  assert.deepEqual(back.signals, PROFILE.signals);
  assert.equal(back.la_mv, 3300);
  assert.equal(back.spi_cs, null);
});

test("a role leaves the channel that had it, and a channel its role", () => {
  const moved = wired(PROFILE, rewired(usesOf(PROFILE), 6, { kind: "role", role: "uart_rx" }));
  assert.equal(moved.uart_rx, 7);
  assert.deepEqual(usesOf(moved)[2], FREE);
  assert.equal(wired(PROFILE, rewired(usesOf(PROFILE), 2, FREE)).uart_rx, null);
});

test("the order of members makes no difference", () => {
  assert(isSame({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 }));
  assert(!isSame({ a: [1, 2] }, { a: [2, 1] }));
});
