//! Samples that were lost: nothing is known of a rule that looks at some of them.

use decode::gaps::Gaps;
use pipeline::rules::{Align, Time};
use rules::{Golden, Goldens, Judged, Make, Verdict};

use crate::support::{Samples, file};

fn judged(rule: &str, gaps: &[(u64, u64)]) -> Judged {
    let stored = Samples::of(&["00110011001100110011"]).stored();
    let capture = stored.capture().with_gaps(Gaps::new(gaps.iter().copied()));
    let file = file(rule);
    let report = rules::evaluate(&capture, file.rules(), &Goldens::default(), &|| false);
    report.unwrap().rules.remove(0)
}

#[test]
fn a_rule_that_looks_at_lost_samples_fails_and_says_so() {
    let rule = "frequency: { channel: a, value: 250kHz, tolerance: 1% }";
    assert_eq!(judged(rule, &[]).verdict, Verdict::Passed);
    let lost = judged(rule, &[(8, 10)]);
    assert_eq!(lost.verdict, Verdict::Failed);
    let why = "unknown because samples 8 to 9 were lost: record at a lower rate, or look at another range";
    assert_eq!((lost.seen.as_str(), lost.margin), (why, None));
    let place = lost.place.unwrap();
    assert_eq!((place.from_sample, place.to_sample), (8, 9));
    let more = judged(rule, &[(8, 10), (12, 13), (15, 17)]).seen;
    assert!(
        more.contains("were lost, and 2 more times others"),
        "{more}"
    );
}

#[test]
fn a_rule_that_looks_elsewhere_holds() {
    let rule = "from: 6us, frequency: { channel: a, value: 250kHz, tolerance: 1% }";
    for gaps in [&[(2, 6)][..], &[(0, 1)]] {
        assert_eq!(judged(rule, gaps).verdict, Verdict::Passed);
    }
    assert_eq!(judged(rule, &[(2, 7)]).verdict, Verdict::Failed);
}

#[test]
fn no_golden_file_is_made_where_samples_were_lost() {
    let stored = Samples::of(&["00110011"]).stored();
    let make = Make {
        channels: &[],
        time: Time(2_000),
        amplitude: None,
        align: Align::Trigger,
    };
    assert!(Golden::make(&stored.capture(), &make).is_ok());
    let capture = stored.capture().with_gaps(Gaps::new([(3, 5)]));
    let error = Golden::make(&capture, &make).unwrap_err().to_string();
    assert!(error.contains("lost samples"), "{error}");
}

/// What the capture lacks is said before.
#[test]
fn a_rule_that_does_not_fit_is_an_error_all_the_same() {
    let rule = "frequency: { channel: zz, value: 250kHz, tolerance: 1% }";
    assert_eq!(judged(rule, &[(8, 10)]).verdict, Verdict::Error);
}
