//! What a capture may be called, however it is made, and what those of jobs are called. The API's document gives the same
//! bound.

use std::collections::HashSet;

use store::captures::{CaptureRecord, Kind, OF_JOB_MAX, Origin};

use super::order::OfJob;
use super::plan::PlanError;

/// Longest capture name, in characters: what a list shows on one line.
const NAME_CHARS_MAX: usize = 128;

/// Check the name of a new capture.
///
/// # Errors
/// It is empty, too long, or holds control characters.
pub(super) fn check_name(name: Option<&str>) -> Result<(), PlanError> {
    let invalid = |message: String| PlanError::Invalid {
        field: "name".to_owned(),
        message,
    };
    match name {
        Some(name) if !(1..=NAME_CHARS_MAX).contains(&name.chars().count()) => {
            Err(invalid(format!("must be 1 to {NAME_CHARS_MAX} characters")))
        }
        Some(name) if name.chars().any(char::is_control) => {
            Err(invalid("must not hold control characters".to_owned()))
        }
        _ => Ok(()),
    }
}

/// The name of a capture of a job: job, run and step, and what else it takes to be none of those that are `taken`.
pub(super) fn in_job(of: &OfJob, kind: Kind, taken: &HashSet<&str>) -> String {
    let OfJob { job, origin } = of;
    let what = origin.step.as_deref().unwrap_or_else(|| word(kind));
    let stem = prefix(job, origin) + what;
    let stem: Vec<char> = stem.chars().filter(|c| !c.is_control()).collect();
    let name = |end: &str| {
        let kept = NAME_CHARS_MAX.saturating_sub(end.chars().count());
        stem.iter()
            .take(kept)
            .chain(&end.chars().collect::<Vec<_>>())
            .collect::<String>()
    };
    let ends = [String::new(), format!(", attempt {}", origin.attempt)];
    let more = (2..=OF_JOB_MAX + 2).map(|number| format!(" {number}"));
    let mut names = ends.into_iter().chain(more).map(|end| name(&end));
    let free = names.find(|name| !taken.contains(name.as_str()));
    free.unwrap_or_else(|| name(""))
}

/// What a capture of a job is called within its run: as its step, as the program of the run called it that recorded it, or
/// else by its kind.
#[must_use]
pub fn label(capture: &CaptureRecord) -> &str {
    let name = capture.name.as_deref().unwrap_or(&capture.id);
    let (Some(job), Some(origin)) = (&capture.job, &capture.origin) else {
        return name;
    };
    match &origin.step {
        Some(step) => step,
        None => name.strip_prefix(&prefix(job, origin)).unwrap_or(name),
    }
}

fn prefix(job: &str, origin: &Origin) -> String {
    format!("{job} {}: ", origin.run)
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Scope => "scope",
        Kind::Logic => "logic",
        Kind::I2c => "i2c",
        Kind::Dual => "dual",
        Kind::Measure => "measure",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_long_as_documented_and_no_longer() {
        assert!(check_name(None).is_ok());
        assert!(check_name(Some("n")).is_ok());
        assert!(check_name(Some(&"é".repeat(128))).is_ok());
        for bad in ["", &"n".repeat(129), "a\nb"] {
            assert!(check_name(Some(bad)).is_err(), "{bad}");
        }
    }

    fn of(step: Option<&str>) -> OfJob {
        OfJob {
            job: "01J".to_owned(),
            origin: Origin {
                run: "b.f0".to_owned(),
                attempt: 3,
                step: step.map(str::to_owned),
            },
        }
    }

    #[test]
    fn those_of_a_job_have_names_of_their_own() {
        let mut taken = HashSet::new();
        let names: Vec<String> = (0..4)
            .map(|_| {
                let name = in_job(&of(Some("boot")), Kind::Logic, &taken);
                taken.insert(&*name.clone().leak());
                name
            })
            .collect();
        let expected = [
            "01J b.f0: boot",
            "01J b.f0: boot, attempt 3",
            "01J b.f0: boot 2",
            "01J b.f0: boot 3",
        ];
        assert_eq!(names, expected);
        let own = in_job(&of(None), Kind::I2c, &taken);
        assert_eq!(own, "01J b.f0: i2c");
        let long = of(Some(&"x\n".repeat(500)));
        let first = in_job(&long, Kind::Logic, &HashSet::new());
        let second = in_job(&long, Kind::Logic, &[&*first].into());
        assert_ne!(first, second);
        for name in [first, second] {
            assert!(check_name(Some(&name)).is_ok(), "{name}");
        }
    }
}
