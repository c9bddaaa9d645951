//! What a job came to on a server, in the words and exit codes of `hostd run`.

use serde_json::Value;

use super::super::check::DEFINITION;
use super::super::printer::{Ended, EndedRun};
use super::super::trouble::{CANCELLED, INFRASTRUCTURE};

/// A word and the exit code for the record of a job that is over.
pub(super) fn verdict(job: &Value) -> (&'static str, u8) {
    match (text(job, "ended_because"), text(job, "verdict")) {
        ("cancelled", _) => ("cancelled", CANCELLED),
        (_, "success") => ("success", 0),
        // A job whose own time is over took too long, like a step whose time is.
        (_, "failure") | ("timeout", _) => ("failure", 1),
        ("definition_error", _) => ("definition", DEFINITION),
        _ => ("infrastructure", INFRASTRUCTURE),
    }
}

/// Whether the outcome of a run or an attempt is a mistake of somebody.
pub(super) fn is_wrong(outcome: &str) -> bool {
    matches!(outcome, "failed" | "broken" | "timed_out")
}

/// The record of a job that is over, for people.
pub(super) fn ended(job: &Value) -> Ended {
    let runs = job["runs"].as_array().map_or(&[][..], Vec::as_slice);
    let runs = runs.iter().map(|run| EndedRun {
        id: text(run, "id").to_owned(),
        sentence: text(run, "message").to_owned(),
        artifacts: 0,
    });
    Ended {
        word: verdict(job).0.to_owned(),
        sentence: text(job, "message").to_owned(),
        runs: runs.collect(),
    }
}

/// A member that is text; empty if it is not.
pub(super) fn text<'a>(record: &'a Value, member: &str) -> &'a str {
    record[member].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn exit_codes_say_whose_turn_it_is() {
        for (because, judged, word, code) in [
            ("completed", "success", "success", 0),
            ("completed", "failure", "failure", 1),
            ("timeout", "failure", "failure", 1),
            ("timeout", "pending", "failure", 1),
            ("definition_error", "pending", "definition", 2),
            ("definition_error", "failure", "failure", 1),
            ("queue_timeout", "pending", "infrastructure", 3),
            ("no_matching_device", "pending", "infrastructure", 3),
            ("device_lost", "pending", "infrastructure", 3),
            ("infra_error", "pending", "infrastructure", 3),
            ("infra_error", "failure", "failure", 1),
            ("cancelled", "pending", "cancelled", 4),
            ("cancelled", "failure", "cancelled", 4),
        ] {
            let job = json!({"ended_because": because, "verdict": judged});
            assert_eq!(verdict(&job), (word, code), "{job}");
        }
    }

    #[test]
    fn a_record_is_told() {
        let job = json!({
            "ended_because": "completed", "verdict": "failure", "message": "fw: It ended with 1.",
            "runs": [{"id": "fw", "message": "It ended with 1."}, {"id": "smoke", "message": "Not run."}]
        });
        let ended = ended(&job);
        assert_eq!(
            (&*ended.word, &*ended.sentence),
            ("failure", "fw: It ended with 1.")
        );
        let told: Vec<_> = ended
            .runs
            .iter()
            .map(|run| (&*run.id, &*run.sentence))
            .collect();
        assert_eq!(told, [("fw", "It ended with 1."), ("smoke", "Not run.")]);
    }
}
