//! Random instructions of each class on the ARMv7-M core, compared with what QEMU says.
//!
//! The default run compares with a file of checksums that QEMU made. Where `qemu-arm` and a compiler for ARM
//! are installed, `cargo nextest run --release -p target-sim --run-ignored only -E 'binary(oracle)'` compares
//! every register of a million instructions of each class with QEMU itself; `ORACLE_CASES` sets another number.
//! With `ORACLE_WRITE=1` it also writes the file.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "oracle/cases.rs"]
mod cases;
#[path = "oracle/classes.rs"]
mod classes;
#[path = "oracle/core.rs"]
mod core;
#[path = "oracle/qemu.rs"]
mod qemu;

use std::path::PathBuf;

use cases::{Case, Outcome, Random};
use classes::{CLASSES, Class};

/// Cases of each class in the file.
const FILED: usize = 500;
const MANY: usize = 1_000_000;

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/checksums.bin")
}

fn random(number: usize) -> Random {
    Random::new(0x1234_5678_9abc_def1 + 0x1_0001 * number as u64)
}

fn judge(class: &Class, case: &Case, ours: &Outcome, theirs: &Outcome) {
    assert_eq!(ours, theirs, "{}: {case:08x?}", class.name);
}

#[test]
fn instructions_do_what_qemu_has_said() {
    let file = std::fs::read(file()).unwrap();
    let mut checksums = file.chunks_exact(4);
    for (number, class) in CLASSES.iter().enumerate() {
        let mut random = random(number);
        for _ in 0..FILED {
            let case = class.case(&mut random);
            let expected = u32::from_le_bytes(checksums.next().unwrap().try_into().unwrap());
            let outcome = core::run(&case);
            assert_eq!(
                outcome.checksum(),
                expected,
                "{}: {case:08x?} gives {outcome:08x?}",
                class.name
            );
        }
    }
    assert_eq!(checksums.len(), 0);
}

#[test]
#[ignore = "needs qemu-arm and arm-none-eabi-gcc, and minutes"]
fn a_million_instructions_of_each_class_do_what_qemu_says() {
    let asked = std::env::var("ORACLE_CASES").ok();
    let count = asked.map_or(MANY, |text| text.parse().unwrap()).max(FILED);
    let mut checksums = Vec::new();
    for (number, class) in CLASSES.iter().enumerate() {
        let mut random = random(number);
        let mut other = random.clone();
        let mut judged = 0;
        let Some(mut qemu) = qemu::Qemu::start(move || class.case(&mut other), count) else {
            println!("skipped: qemu-arm or arm-none-eabi-gcc is not installed");
            return;
        };
        for place in 0..count {
            let case = class.case(&mut random);
            let theirs = qemu.next(&case);
            judge(class, &case, &core::run(&case), &theirs);
            judged += 1;
            if place < FILED {
                checksums.extend(theirs.checksum().to_le_bytes());
            }
        }
        println!("{}: {judged} agree", class.name);
    }
    if std::env::var_os("ORACLE_WRITE").is_some() {
        std::fs::write(file(), checksums).unwrap();
    }
}
