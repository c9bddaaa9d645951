//! What jobs built is found like what was reported.

use serde_json::{Value, json};
use store::jobs::{Attempt, Changes, End, File as JobFile, Job, PASSED, Run};

use super::tests::{NOW_MS, Stage, some, stage};
use super::*;

/// A run: its id, chips, and names of files. None of the files: it has failed.
type Ran<'r> = (&'r str, &'r [&'r str], Option<&'r [&'r str]>);

/// A job of these runs.
fn job(id: &str, runs: &[Ran<'_>], end: Option<&str>) -> Job {
    let end_of = |code: &str| End {
        ending: Value::Null,
        code: code.to_owned(),
        message: String::new(),
    };
    let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let run = |(id, targets, files): &Ran<'_>| Run {
        id: (*id).to_owned(),
        is_bench: id.starts_with("bench"),
        needs: Vec::new(),
        targets: texts(targets),
        end: Some(end_of(files.map_or("build", |_| PASSED))),
    };
    let attempt = |(place, (_, _, files)): (usize, &Ran<'_>)| Attempt {
        number: u32::try_from(place).unwrap() + 1,
        run: u32::try_from(place).unwrap(),
        epoch: 0,
        device: None,
        lease_id: None,
        assigned_ms: NOW_MS,
        started_ms: None,
        ended_ms: Some(NOW_MS + 5),
        end: Some(end_of(files.map_or("build", |_| PASSED))),
        log_bytes: 0,
        measured: 0,
        files: files
            .unwrap_or_default()
            .iter()
            .map(|name| JobFile {
                name: (*name).to_owned(),
                size_bytes: 3,
                sha256: "0".repeat(64),
            })
            .collect(),
    };
    Job {
        id: id.to_owned(),
        org: "org".to_owned(),
        user: "user".to_owned(),
        name: some("blinky"),
        r#ref: some("main"),
        commit: some("0a1b"),
        retry_of: None,
        archive: None,
        axes: Value::Null,
        other_bytes: 0,
        memory_bytes: 0,
        queue: None,
        end: end.map(end_of),
        runs: runs.iter().map(run).collect(),
        attempts: runs.iter().enumerate().map(attempt).collect(),
        created_ms: NOW_MS,
        started_ms: None,
        finished_ms: None,
    }
}

impl Stage {
    async fn has(&self, jobs: Vec<Job>) {
        let changes = Changes {
            jobs,
            ..Changes::default()
        };
        self.builds.store.jobs_change(changes).await.unwrap();
    }

    async fn flashable(&self, org: &str, target: Option<&str>) -> Vec<String> {
        let target = target.map(str::to_owned);
        let found = self.builds.flashable(org, target, 10).await.unwrap();
        found.iter().map(name).collect()
    }
}

fn name(artifact: &Artifact) -> String {
    format!(
        "{}/{}/{}",
        artifact.build.id, artifact.pack, artifact.file.name
    )
}

/// Older and newer than any build that a test reports.
const OLD: &str = "00000000000000000000000001";
const NEW: &str = "7ZZZZZZZZZZZZZZZZZZZZZZZZZ";

#[tokio::test]
async fn flashable_files_of_jobs_stand_among_the_others() {
    let stage = stage(BuildsConfig::default()).await;
    let reported = stage.build("org", "blinky", "main").await;
    let put = stage.put("org", &reported, "r.elf", b"elf".to_vec());
    put.await.unwrap();
    let of_two = job(
        NEW,
        &[
            ("fw.f0", &["stm32f030f4"], Some(&["fw.elf", "fw.map"])),
            ("fw.g4", &["stm32g431kb"], Some(&["fw.elf"])),
            ("any", &[], Some(&["a.bin"])),
            ("broken", &[], None),
            ("bench", &[], Some(&["decoded.bin"])),
        ],
        None,
    );
    let old = job(OLD, &[("fw", &["STM32F030R8"], Some(&["old.hex"]))], None);
    stage.has(vec![of_two, old]).await;
    let (f0, g4) = (format!("{NEW}/fw.f0/fw.elf"), format!("{NEW}/fw.g4/fw.elf"));
    let (any, old) = (format!("{NEW}/any/a.bin"), format!("{OLD}/fw/old.hex"));
    let reported = format!("{reported}/external/r.elf");
    let all = [&f0, &g4, &any, &reported, &old].map(Clone::clone);
    assert_eq!(stage.flashable("org", None).await, all);
    let family = stage.flashable("org", Some("target/stm32f0x.cfg")).await;
    assert_eq!(family, [&f0, &any, &reported, &old].map(Clone::clone));
    let chip = stage.flashable("org", Some("stm32g431kb")).await;
    assert_eq!(chip, [&g4, &any, &reported].map(Clone::clone));
    assert!(stage.flashable("acme", None).await.is_empty());
    let two = stage.builds.flashable("org", None, 2).await.unwrap();
    assert_eq!(two.iter().map(name).collect::<Vec<_>>(), [f0, g4]);
    // A pack for one chip says which.
    assert_eq!(
        two[0].build.wiring,
        *json!({"target": "stm32f030f4"}).as_object().unwrap()
    );
    assert_eq!(two[0].file.created_ms, NOW_MS + 5);
}

#[tokio::test]
async fn a_file_of_a_job_is_named_by_its_pack() {
    let stage = stage(BuildsConfig::default()).await;
    let files: Option<&[&str]> = Some(&["out/fw.elf"]);
    let twins = [("fw.a", &[][..], files), ("fw.b", &[][..], files)];
    stage.has(vec![job(OLD, &twins, Some("test"))]).await;
    let named = |pack: Option<&str>, artifact: Option<&str>| Selector {
        build: some(OLD),
        pack: pack.map(str::to_owned),
        artifact: artifact.map(str::to_owned),
        ..Selector::default()
    };
    for doubt in [None, Some("fw.elf"), Some("out/fw.elf")] {
        let found = stage.builds.select("org", named(None, doubt)).await;
        let Err(BuildError::Ambiguous { names }) = found else {
            panic!("{doubt:?}: {found:?}");
        };
        assert_eq!(names, ["fw.a/out/fw.elf", "fw.b/out/fw.elf"]);
    }
    for selector in [
        named(None, Some("fw.b/out/fw.elf")),
        named(Some("fw.b"), None),
        named(Some("fw.b"), Some("fw.elf")),
    ] {
        let found = stage.builds.select("org", selector).await.unwrap();
        assert_eq!(found.pack, "fw.b");
    }
    for (org, pack, file) in [
        ("org", "fw.c", "out/fw.elf"),
        ("org", REPORTED, "out/fw.elf"),
        ("org", "fw.a", "fw.elf"),
        ("acme", "fw.a", "out/fw.elf"),
    ] {
        let none = stage.builds.artifact(org, OLD, pack, file).await;
        assert!(matches!(none, Err(BuildError::NotFound)), "{org} {pack}");
    }
    let found = stage
        .builds
        .artifact("org", OLD, "fw.a", "out/fw.elf")
        .await;
    // Its blob was never there, as if the job had been deleted meanwhile.
    let gone = stage.builds.read(&found.unwrap()).await;
    assert!(matches!(gone, Err(BuildError::NotFound)));
}

#[tokio::test]
async fn the_latest_build_may_be_of_a_job_that_succeeded() {
    let stage = stage(BuildsConfig::default()).await;
    let runs: [Ran<'_>; 1] = [("fw", &[], Some(&["j.elf"]))];
    let latest = async |repo: Option<&str>, pack: Option<&str>| {
        let selector = Selector {
            repo: repo.map(str::to_owned),
            pack: pack.map(str::to_owned),
            ..Selector::default()
        };
        let found = stage.builds.select("org", selector).await;
        found.ok().map(|found| found.file.name)
    };
    stage.has(vec![job(OLD, &runs, None)]).await;
    assert_eq!(latest(None, None).await, None);
    stage.has(vec![job(OLD, &runs, Some("test"))]).await;
    assert_eq!(latest(None, None).await, None);
    stage.has(vec![job(OLD, &runs, Some(PASSED))]).await;
    assert_eq!(latest(None, None).await, some("j.elf"));
    let build = stage.build("org", "blinky", "main").await;
    stage
        .put("org", &build, "r.elf", b"r".to_vec())
        .await
        .unwrap();
    stage.finish("org", &build, true).await.unwrap();
    assert_eq!(latest(None, None).await, some("r.elf"));
    let tests_only = job(NEW, &[("bench", &[], Some(&[]))], Some(PASSED));
    stage.has(vec![tests_only]).await;
    assert_eq!(latest(None, None).await, some("r.elf"));
    stage.has(vec![job(NEW, &runs, Some(PASSED))]).await;
    assert_eq!(latest(None, None).await, some("j.elf"));
    // Nobody says of which repository a job is, and pods are updated with what was reported.
    assert_eq!(latest(some("blinky").as_deref(), None).await, some("r.elf"));
    assert_eq!(latest(None, Some(REPORTED)).await, some("r.elf"));
}
