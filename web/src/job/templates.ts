// Pipelines to begin with. They run as they stand on a server with its demo bench.
export const TEMPLATES: readonly { readonly id: string; readonly name: string; readonly text: string }[] = [
  {
    id: "bench",
    name: "Look at a board",
    text: `# Powers a board, records its bus while it starts, and says what must be seen.
version: 1
name: look-at-a-board
benches:
  - id: smoke
    device: { name: demo }
    steps:
      - power: { rail: internal, state: on }
      - capture: { kind: la, channels: { scl: 1, sda: 2, tx: 3 }, rate: 1MHz, samples: 2000000 }
        id: boot
      - assert: { on: boot, decode: i2c, address: 0x68, ack: true }
        case: the clock chip answers
      - measure: { on: boot, name: clock low, channel: scl, quantity: low_s.min, low: 4e-6 }
        case: the clock is not too fast
    always:
      - power: { rail: internal, state: off }
`,
  },
  {
    id: "build",
    name: "Build, flash and test",
    text: `# Builds firmware from the sources, flashes it and waits for its banner. Submit it with the sources.
version: 1
name: firmware
builds:
  - id: fw
    steps:
      - run: make OUT="$HOSTD_OUT"
    packs:
      - { id: f0, artifacts: [fw.elf], targets: [stm32f030r8] }
benches:
  - id: smoke
    for_each: fw
    device: { select: { target: "{{pack.target}}" } }
    steps:
      - power: { rail: internal, state: on }
      - flash: { artifact: fw.elf }
      - reset: {}
      - uart: { expect: APP_OK }
        case: banner
        timeout: 5s
    always:
      - power: { rail: internal, state: off }
`,
  },
];
