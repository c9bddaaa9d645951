//! The phases of a run of a bench: a pipeline that stays in each, and how to see that it is there.

use std::path::Path;

/// What shows that a run is in a phase.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sign {
    /// It has its device, and no step has begun.
    Assigned,
    /// Its log has this.
    Log(&'static str),
    /// The device's newest flash is in one of these phases.
    Flash(&'static [&'static str]),
    /// The device's newest capture records.
    Capture,
}

/// What is done before a run gets to its phase, so that it stays there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    /// Somebody without a lease has the device's serial line open, and the pod hangs.
    Occupied,
    /// When its log has `ready`, the pod hangs, and the file `go` is made, for which it waits.
    Hung,
}

/// A phase.
#[derive(Debug)]
pub(super) struct Phase {
    pub(super) name: &'static str,
    /// The pod whose link is slow, with a target to program.
    pub(super) is_slow: bool,
    pub(super) steps: &'static str,
    pub(super) always: &'static str,
    pub(super) before: Before,
    pub(super) sign: Sign,
    /// The test has said something when it is there.
    pub(super) says_something: bool,
}

/// Stands for [`mark`] in pipelines.
const MARK: &str = "MARK";

/// In all commands of the pipelines that run long. `pytest` finds tests in a folder whose name ends so.
pub(super) fn mark() -> String {
    crate::jobs::mark(91)
}

/// Stands in for pytest, which a machine may lack: `python3 -m` looks in the job's folder first.
pub(super) const PYTEST: &str = "
import time
print('here', flush=True)
time.sleep(1000)
";

const PLAIN: Phase = Phase {
    name: "",
    is_slow: false,
    steps: "",
    always: "",
    before: Before::Nothing,
    sign: Sign::Assigned,
    says_something: false,
};

/// Preparing and connecting, erasing and programming, verifying.
const FLASH: Phase = Phase {
    is_slow: true,
    steps: "
      - flash: { artifact: fw.elf, target: STM32F030R8 }",
    ..PLAIN
};

pub(super) const PHASES: &[Phase] = &[
    Phase {
        name: "lease",
        steps: "
      - wait: 10m",
        before: Before::Occupied,
        ..PLAIN
    },
    Phase {
        name: "power",
        steps: "
      - run: 'echo ready; until test -e go; do : MARK; sleep 0.01; done'
      - power: { rail: internal, state: on }",
        before: Before::Hung,
        sign: Sign::Log("== power internal on"),
        says_something: true,
        ..PLAIN
    },
    Phase {
        name: "flash, before anything is written",
        sign: Sign::Flash(&["preparing", "connecting"]),
        ..FLASH
    },
    Phase {
        name: "flash, written half",
        sign: Sign::Flash(&["erasing", "programming"]),
        ..FLASH
    },
    Phase {
        name: "flash, being read back",
        sign: Sign::Flash(&["verifying"]),
        ..FLASH
    },
    Phase {
        name: "wait for the serial line",
        steps: "
      - power: { rail: internal, state: on }
      - uart: { expect: never, channels: { rx: 3, tx: 4 } }",
        sign: Sign::Log("== uart"),
        ..PLAIN
    },
    Phase {
        name: "capture",
        steps: "
      - power: { rail: internal, state: on }
      - capture: { kind: la, channels: { a: 5 }, rate: 100kHz, samples: 4000000 }",
        sign: Sign::Capture,
        ..PLAIN
    },
    Phase {
        name: "capture in the background",
        steps: "
      - power: { rail: internal, state: on }
      - capture: { kind: la, channels: { a: 5 }, rate: 100kHz, samples: 4000000 }
        background: true
      - wait: 10m",
        sign: Sign::Log("== wait 600s"),
        ..PLAIN
    },
    Phase {
        name: "assertion about a capture that goes on",
        steps: "
      - power: { rail: internal, state: on }
      - capture: { kind: la, channels: { scl: 1, sda: 2 }, rate: 100kHz, samples: 4000000 }
        id: boot
        background: true
      - assert: { on: boot, decode: i2c, address: 0x76, ack: true }",
        sign: Sign::Log("== assert boot"),
        ..PLAIN
    },
    Phase {
        name: "decoding of a capture that goes on",
        steps: "
      - power: { rail: internal, state: on }
      - capture: { kind: la, channels: { scl: 1, sda: 2 }, rate: 100kHz, samples: 4000000 }
        id: boot
        background: true
      - decode: { on: boot, decoder: i2c }",
        sign: Sign::Log("== decode boot"),
        ..PLAIN
    },
    Phase {
        name: "assertion about the serial line",
        steps: "
      - power: { rail: internal, state: on }
      - uart: { channels: { rx: 3, tx: 4 } }
        id: console
        background: true
      - assert: { on: console, text: never }",
        sign: Sign::Log("== assert console"),
        ..PLAIN
    },
    Phase {
        name: "run",
        steps: "
      - power: { rail: internal, state: on }
      - run: 'echo here; sleep MARK'",
        sign: Sign::Log("\nhere\n"),
        says_something: true,
        ..PLAIN
    },
    Phase {
        name: "pytest",
        steps: "
      - power: { rail: internal, state: on }
      - pytest: { path: pMARK }",
        sign: Sign::Log("\nhere\n"),
        says_something: true,
        ..PLAIN
    },
    Phase {
        name: "always",
        steps: "
      - power: { rail: internal, state: on }
      - run: echo here",
        always: "
      - run: 'echo last; until test -e go; do : MARK; sleep 0.01; done'",
        sign: Sign::Log("\nlast\n"),
        says_something: true,
        ..PLAIN
    },
    Phase {
        name: "the device is given back",
        steps: "
      - power: { rail: internal, state: on }
      - run: 'echo ready; until test -e go; do : MARK; sleep 0.01; done'",
        before: Before::Hung,
        sign: Sign::Log("-- b: passed"),
        says_something: true,
        ..PLAIN
    },
];

/// Those that this machine has the programs for.
pub(super) fn possible() -> impl Iterator<Item = &'static Phase> {
    let has_python = Path::new("/usr/bin/python3").exists();
    PHASES
        .iter()
        .filter(move |phase| has_python || phase.name != "pytest")
}

impl Phase {
    /// The file `go` ends it, whatever else has happened.
    pub(super) fn ends_by_file(&self) -> bool {
        !self.always.is_empty()
    }

    /// The whole pipeline.
    pub(super) fn pipeline(&self) -> String {
        let mut text = "version: 1\nretry: { infra: 0 }\n".to_owned();
        if self.is_slow {
            text +=
                "builds:\n  - id: fw\n    steps: [{ run: 'cp fw.elf \"$HOSTD_OUT/fw.elf\"' }]\n";
            text += "    packs: [{ id: a, artifacts: [fw.elf] }]\n";
        }
        let of = if self.is_slow {
            "\n    for_each: fw"
        } else {
            ""
        };
        let (device, steps) = (self.device(), self.steps);
        text += &format!(
            "benches:\n  - id: b{of}\n    device: {{ name: {device} }}\n    steps:{steps}\n"
        );
        if self.ends_by_file() {
            text += &format!("    always:{}\n", self.always);
        }
        text.replace(MARK, &mark())
    }

    /// The name of its device.
    pub(super) fn device(&self) -> &'static str {
        if self.is_slow { "slow" } else { "quick" }
    }
}
