//! The judge must be able to fail, for each reason separately.

use super::*;

fn samples(waits_ms: impl IntoIterator<Item = u64>) -> Samples {
    let mut samples = Samples::default();
    for wait_ms in waits_ms {
        samples.waited(Duration::from_millis(wait_ms));
    }
    samples
}

fn deed(alone_ms: u64, beside_ms: u64) -> Deed {
    Deed {
        name: "health",
        quick: Duration::ZERO,
        alone: samples([alone_ms; 200]),
        beside: samples([beside_ms; 200]),
    }
}

fn trial(deed: Deed) -> Trial {
    let resident = Resident {
        before: 30,
        peak: 60,
        settled: 40,
        most: RESIDENT_MIB_MAX,
    };
    Trial {
        deeds: vec![deed],
        resident,
        ..Trial::default()
    }
}

#[test]
fn percentiles_are_of_the_nearest_rank() {
    let ms = Duration::from_millis;
    let all = samples((1..=200).rev());
    assert_eq!(all.percentile(50), Some(ms(100)));
    assert_eq!(all.percentile(99), Some(ms(198)));
    assert_eq!(all.percentile(100), Some(ms(200)));
    assert_eq!(samples([7]).percentile(50), Some(ms(7)));
    assert_eq!(samples([7]).percentile(0), Some(ms(7)));
    assert_eq!(Samples::default().percentile(99), None);
    // Two samples of a hundred reach the slowest hundredth, one does not.
    let some =
        |slow| samples(std::iter::repeat_n(1, 100 - slow).chain(std::iter::repeat_n(9, slow)));
    assert_eq!(some(1).percentile(99), Some(ms(1)));
    assert_eq!(some(2).percentile(99), Some(ms(9)));
}

#[test]
fn what_a_server_withstands_has_no_faults() {
    let quiet = trial(deed(2, 6));
    assert!(quiet.faults(Clock::Judged).is_empty());
    assert!(quiet.table(Clock::Judged).ends_with("  withstood\n"));
}

#[test]
fn what_is_quick_enough_is_no_fault_however_quick_it_was_before() {
    let mut deed = deed(2, 7);
    deed.quick = Duration::from_millis(7);
    assert!(trial(deed.clone()).faults(Clock::Judged).is_empty());
    deed.quick = Duration::from_millis(6);
    assert_eq!(trial(deed).faults(Clock::Judged).len(), 1);
}

#[test]
fn slowness_is_a_fault_where_the_clock_is_judged() {
    let slow = trial(deed(2, 7));
    assert_eq!(
        slow.faults(Clock::Judged),
        ["health took 3.5 times as long in its slowest hundredth; 3 are allowed"]
    );
    assert!(slow.faults(Clock::Shown).is_empty());
    // Too few samples prove nothing.
    let mut few = deed(2, 7);
    few.alone = samples([2; SAMPLES_MIN - 1]);
    assert!(trial(few).faults(Clock::Judged).is_empty());
}

#[test]
fn each_failure_of_an_honest_caller_is_a_fault() {
    let mut refused = deed(2, 2);
    refused.beside.failed("503");
    refused.beside.failed("503");
    refused.beside.failed("no answer");
    let refused = trial(refused);
    assert_eq!(
        refused.faults(Clock::Shown),
        ["health failed: 2 × 503, 1 × no answer"]
    );
    assert!(
        refused
            .table(Clock::Shown)
            .contains("FAILED: health failed")
    );

    let mut broken = deed(2, 2);
    broken.alone.failed("500");
    let faults = trial(broken).faults(Clock::Shown);
    assert_eq!(faults, ["health failed without an attack: 1 × 500"]);

    let mut starved = deed(2, 2);
    starved.beside = Samples::default();
    let faults = trial(starved).faults(Clock::Shown);
    assert_eq!(faults, ["health never succeeded beside the attack"]);
}

#[test]
fn memory_and_the_attacks_own_complaints_are_faults() {
    let mut swollen = trial(deed(2, 2));
    swollen.resident.peak = RESIDENT_MIB_MAX + 1;
    assert_eq!(swollen.faults(Clock::Shown).len(), 1);
    swollen.resident.peak = RESIDENT_MIB_MAX;
    assert!(swollen.faults(Clock::Shown).is_empty());
    swollen.complaints.push("nobody was cut".to_owned());
    assert_eq!(swollen.faults(Clock::Shown), ["nobody was cut"]);
}

#[test]
fn slices_add_up() {
    let mut all = samples([1, 2]);
    all.failed("503");
    let mut more = samples([3]);
    more.failed("503");
    all.join(more);
    assert_eq!((all.count(), all.errors()), (3, 2));
}

#[test]
fn a_row_stands_under_its_heading() {
    let table = trial(deed(2, 6)).table(Clock::Judged);
    let first = table.lines().next().unwrap();
    assert_eq!(first.chars().count(), heading().trim_end().chars().count());
    assert!(first.starts_with("  health"), "{first}");
    assert!(first.contains(" 3.0 "), "{first}");
}
