//! Commit statuses: told in order, and never by an older job over a newer one.

use std::path::Path;

use base::config::{CommitStatusConfig, Provider};
use serde_json::Value;
use store::notices::{Notice, Standing};
use tests::Receiver;
use tests::receiver::{Answer, Received};

use crate::stage::{ORG, Stage, limits, local};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn github(receiver: &Receiver, dir: &Path) -> CommitStatusConfig {
    use std::os::unix::fs::PermissionsExt;
    let token_file = dir.join("token");
    std::fs::write(&token_file, "ghp_secret\n").unwrap();
    std::fs::set_permissions(&token_file, std::fs::Permissions::from_mode(0o600)).unwrap();
    CommitStatusConfig {
        provider: Provider::Github,
        repository: "acme/blinky".into(),
        organisation: "acme".into(),
        token_file,
        pipeline: None,
        api_url: Some(receiver.url("")),
    }
}

fn about(stage: &Stage, job: &str, standing: Standing) -> Notice {
    let mut notice = stage.ended(ORG);
    notice.job = job.into();
    notice.commit = Some(COMMIT.into());
    notice.standing = standing;
    if !standing.has_ended() {
        notice.told = None;
    }
    notice
}

fn state(received: &Received) -> Value {
    received.json()["state"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_says_how_its_job_stands() {
    let (receiver, dir) = (
        Receiver::start(Answer::Status(201)),
        tempfile::tempdir().unwrap(),
    );
    let repositories = [github(&receiver, dir.path())];
    let stage = Stage::with(limits(), &local(), &repositories).await;
    stage.tell(vec![about(&stage, "1", Standing::Queued)]).await;
    let seen = receiver.wait_for(1);
    assert_eq!(
        seen[0].path,
        format!("/repos/acme/blinky/statuses/{COMMIT}")
    );
    assert_eq!(seen[0].header("authorization"), Some("Bearer ghp_secret"));
    assert_eq!(state(&seen[0]), "pending");
    stage.tell(vec![about(&stage, "1", Standing::Failed)]).await;
    let seen = receiver.wait_for(2);
    assert_eq!(state(&seen[1]), "failure");
    assert_eq!(seen[1].json()["context"], "hostd/blinky");
    // Other organisations do not reach the repository.
    let mut other = about(&stage, "2", Standing::Passed);
    other.org = "o2".into();
    stage
        .tell(vec![other, about(&stage, "3", Standing::Passed)])
        .await;
    let seen = receiver.wait_for(3);
    assert_eq!(state(&seen[2]), "success");
    assert!(
        seen[2].json()["target_url"]
            .as_str()
            .unwrap()
            .contains("/jobs/3/")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_state_never_follows_a_newer_one() {
    let (receiver, dir) = (
        Receiver::start(Answer::Status(500)),
        tempfile::tempdir().unwrap(),
    );
    let repositories = [github(&receiver, dir.path())];
    let stage = Stage::with(limits(), &local(), &repositories).await;
    stage.tell(vec![about(&stage, "1", Standing::Queued)]).await;
    let _ = receiver.wait_for(1);
    stage
        .tell(vec![
            about(&stage, "1", Standing::Passed),
            about(&stage, "1", Standing::Running),
            about(&stage, "2", Standing::Broken),
            about(&stage, "1", Standing::Failed),
        ])
        .await;
    receiver.until(|seen| seen.last().is_some_and(|last| state(last) == "error"));
    receiver.answer(Answer::Status(201));
    // One that comes when the newest has been told stays untold as well.
    stage.tell(vec![about(&stage, "1", Standing::Passed)]).await;
    stage.tell(vec![about(&stage, "3", Standing::Passed)]).await;
    receiver.until(|seen| seen.last().is_some_and(|last| state(last) == "success"));
    let states: Vec<Value> = receiver.seen().iter().map(state).collect();
    let first = states.iter().position(|state| state == "error").unwrap();
    assert!(
        states[..first].iter().all(|state| state == "pending"),
        "{states:?}"
    );
    assert!(
        states[first..states.len() - 1]
            .iter()
            .all(|state| state == "error"),
        "{states:?}"
    );
    let jobs = receiver.seen();
    assert!(jobs.last().unwrap().body.contains("/jobs/3/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_repository_refuses_for_good_is_not_repeated() {
    let (receiver, dir) = (
        Receiver::start(Answer::Status(422)),
        tempfile::tempdir().unwrap(),
    );
    let repositories = [github(&receiver, dir.path())];
    let stage = Stage::with(limits(), &local(), &repositories).await;
    stage.tell(vec![about(&stage, "1", Standing::Queued)]).await;
    let _ = receiver.wait_for(1);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(receiver.seen().len(), 1);
    // One that may be given the right later is asked again.
    receiver.answer(Answer::Status(401));
    stage.tell(vec![about(&stage, "2", Standing::Queued)]).await;
    let _ = receiver.wait_for(3);
    receiver.answer(Answer::Status(201));
    stage.tell(vec![about(&stage, "2", Standing::Passed)]).await;
    receiver.until(|seen| seen.last().is_some_and(|last| state(last) == "success"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_process_tells_what_the_last_one_owed() {
    let (receiver, dir) = (
        Receiver::start(Answer::Status(500)),
        tempfile::tempdir().unwrap(),
    );
    let repositories = [github(&receiver, dir.path())];
    let stage = Stage::with(limits(), &local(), &repositories).await;
    stage.tell(vec![about(&stage, "1", Standing::Passed)]).await;
    let _ = receiver.wait_for(1);
    let kept = stage.kept();
    drop(stage.notices);
    receiver.answer(Answer::Status(201));
    let before = receiver.seen().len();
    let _stage = Stage::on(kept, limits(), &local(), &repositories);
    let seen = receiver.wait_for(before + 1);
    assert_eq!(state(seen.last().unwrap()), "success");
}
