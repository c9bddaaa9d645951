//! Builds on a store in memory and a folder of their own.

use bytes::Bytes;
use http_body_util::Full;
use serde_json::json;

use super::*;
use base::clock::Hand;
use base::pace::Pace;
use base::space::Space;

/// 2026-11-21T09:54:16Z
pub(super) const NOW_MS: u64 = 1_795_254_856_000;

pub(super) struct Stage {
    pub(super) builds: Arc<Builds>,
    hand: Hand,
    dir: tempfile::TempDir,
}

pub(super) async fn stage(config: BuildsConfig) -> Stage {
    let (clock, hand) = Clock::manual(NOW_MS);
    let dir = tempfile::tempdir().unwrap();
    let store = Store::in_memory().unwrap();
    let builds = Builds::open(dir.path(), &config, store, clock, Space::boundless()).await;
    Stage {
        builds: builds.unwrap(),
        hand,
        dir,
    }
}

impl Stage {
    pub(super) async fn build(&self, org: &str, repo: &str, branch: &str) -> String {
        self.hand.advance_ms(1);
        let new = NewBuild {
            origin: Origin {
                repo_owner: "acme".into(),
                repo: repo.into(),
                r#ref: branch.into(),
                ..Origin::default()
            },
            ..NewBuild::default()
        };
        self.builds.create(org, "user", new).await.unwrap().id
    }

    pub(super) async fn put(
        &self,
        org: &str,
        id: &str,
        name: &str,
        bytes: Vec<u8>,
    ) -> Result<(), BuildError> {
        let room = self.builds.room(org, id, Kind::Artifact).await?;
        let mut body = Full::new(Bytes::from(bytes));
        let pace = Pace::within(Duration::from_secs(5));
        let staged = self.builds.blobs().stage(&mut body, room, pace);
        let staged = staged.await.unwrap();
        let kind = Kind::Artifact;
        let attached = self
            .builds
            .attach(org, id, kind, name, "application/octet-stream", &staged);
        attached.await.map(drop)
    }

    pub(super) async fn finish(
        &self,
        org: &str,
        id: &str,
        success: bool,
    ) -> Result<Build, BuildError> {
        let wiring = json!({"swclk": 1}).as_object().unwrap().clone();
        let finish = self
            .builds
            .finish(org, id, success, "done".to_owned(), wiring);
        finish.await
    }

    async fn find(&self, org: &str, selector: Selector) -> Result<String, BuildError> {
        let found = self.builds.select(org, selector).await?;
        Ok(format!("{}:{}", found.build.id, found.file.name))
    }

    fn blobs(&self) -> usize {
        let folders = std::fs::read_dir(self.dir.path().join("blobs")).unwrap();
        let count = |path: PathBuf| std::fs::read_dir(path).unwrap().count();
        folders.map(|f| count(f.unwrap().path())).sum()
    }
}

pub(super) fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[tokio::test]
async fn the_newest_successful_build_of_a_branch_is_meant() {
    let stage = stage(BuildsConfig::default()).await;
    let mut ids = Vec::new();
    for (repo, branch, success) in [
        ("blinky", "main", true),
        ("blinky", "refs/heads/main", true),
        ("blinky", "main", false),
        ("other", "main", true),
    ] {
        let id = stage.build("org", repo, branch).await;
        stage
            .put("org", &id, "fw.elf", b"elf".to_vec())
            .await
            .unwrap();
        stage.finish("org", &id, success).await.unwrap();
        ids.push(id);
    }
    let of = |repo: Option<String>, branch: Option<String>| Selector {
        repo,
        r#ref: branch,
        ..Selector::default()
    };
    let second = format!("{}:fw.elf", ids[1]);
    for repo in ["blinky", "acme/blinky", "Acme/Blinky"] {
        for branch in ["main", "refs/heads/main"] {
            let found = stage.find("org", of(some(repo), some(branch))).await;
            assert_eq!(found.unwrap(), second);
        }
    }
    let newest = stage.find("org", Selector::default()).await.unwrap();
    assert_eq!(newest, format!("{}:fw.elf", ids[3]));
    for (repo, branch) in [("blinky", "dev"), ("else/blinky", "main"), ("none", "main")] {
        let missing = stage.find("org", of(some(repo), some(branch))).await;
        assert!(matches!(missing, Err(BuildError::NotFound)), "{repo}");
    }
    let elsewhere = stage.find("acme", Selector::default()).await;
    assert!(matches!(elsewhere, Err(BuildError::NotFound)));
    // A failed build is found by its id, in its own repository only.
    let by_id = |repo: &str| Selector {
        build: some(&ids[2]),
        repo: some(repo),
        ..Selector::default()
    };
    assert!(stage.find("org", by_id("blinky")).await.is_ok());
    assert!(stage.find("org", by_id("other")).await.is_err());
}

#[tokio::test]
async fn elf_goes_before_hex_before_bin_and_doubts_are_told() {
    let stage = stage(BuildsConfig::default()).await;
    let id = stage.build("org", "blinky", "main").await;
    let named = |artifact: Option<&str>| Selector {
        build: some(&id),
        artifact: artifact.map(str::to_owned),
        ..Selector::default()
    };
    let mut expected = vec![];
    for name in ["notes.txt", "a.bin", "a.HEX", "out/a.elf"] {
        stage.put("org", &id, name, name.into()).await.unwrap();
        expected.push(stage.find("org", named(None)).await.ok());
    }
    let at = |name: &str| Some(format!("{id}:{name}"));
    assert_eq!(expected, [None, at("a.bin"), at("a.HEX"), at("out/a.elf")]);
    assert_eq!(
        stage.find("org", named(Some("a.elf"))).await.ok(),
        at("out/a.elf")
    );
    assert_eq!(
        stage.find("org", named(Some("notes.txt"))).await.ok(),
        at("notes.txt")
    );
    stage
        .put("org", &id, "b/a.elf", b"b".to_vec())
        .await
        .unwrap();
    for wanted in [None, Some("a.elf")] {
        let doubt = stage.find("org", named(wanted)).await.unwrap_err();
        assert!(matches!(doubt, BuildError::Ambiguous { names } if names.len() == 2));
    }
    assert!(stage.find("org", named(Some("c.elf"))).await.is_err());
    let flashable = stage.builds.flashable("org", None, 3).await.unwrap();
    assert_eq!(flashable.len(), 3);
    assert!(flashable.iter().all(|a| a.file.name != "notes.txt"));
}

#[tokio::test]
async fn a_build_is_open_until_it_has_its_result() {
    let stage = stage(BuildsConfig::default()).await;
    let id = stage.build("org", "blinky", "main").await;
    let latest = stage.find("org", Selector::default()).await;
    assert!(matches!(latest, Err(BuildError::NotFound)));
    stage
        .put("org", &id, "a.bin", b"one".to_vec())
        .await
        .unwrap();
    stage
        .put("org", &id, "a.bin", b"one".to_vec())
        .await
        .unwrap();
    let other = stage.put("org", &id, "a.bin", b"two".to_vec()).await;
    assert!(matches!(other, Err(BuildError::NameTaken)));
    for name in [
        "", "/a", "a/", "../a", "a/../b", "a//b", "a\\b", "a\nb", "c:a", ".",
    ] {
        let bad = stage.put("org", &id, name, b"x".to_vec()).await;
        assert!(
            matches!(bad, Err(BuildError::Invalid { field: "name", .. })),
            "{name}"
        );
    }
    let elsewhere = stage.put("acme", &id, "b.bin", b"x".to_vec()).await;
    assert!(matches!(elsewhere, Err(BuildError::NotFound)));
    assert!(matches!(
        stage.finish("acme", &id, true).await,
        Err(BuildError::NotFound)
    ));
    let done = stage.finish("org", &id, true).await.unwrap();
    assert_eq!(
        (done.status, done.wiring["swclk"].as_u64()),
        (Status::Success, Some(1))
    );
    stage.finish("org", &id, true).await.unwrap();
    assert!(matches!(
        stage.finish("org", &id, false).await,
        Err(BuildError::Finished)
    ));
    let late = stage.put("org", &id, "b.bin", b"x".to_vec()).await;
    assert!(matches!(late, Err(BuildError::Finished)));
}

#[tokio::test]
async fn quotas_hold_and_old_builds_take_their_files_along() {
    let stage = stage(BuildsConfig {
        quota_mib: 2,
        artifact_mib_max: 1,
        count_max: 3,
        keep_days: 2,
        ..BuildsConfig::default()
    })
    .await;
    let first = stage.build("org", "blinky", "main").await;
    let mib = |fill: u8| vec![fill; 1 << 20];
    stage.put("org", &first, "a.bin", mib(1)).await.unwrap();
    stage.put("org", &first, "b.bin", mib(2)).await.unwrap();
    let over = stage.put("org", &first, "c.bin", vec![1]).await;
    assert!(matches!(over, Err(BuildError::Full { max: 2, .. })));
    // Another organisation has a quota of its own, and shares what is equal on disk.
    let other = stage.build("acme", "blinky", "main").await;
    stage.put("acme", &other, "a.bin", mib(1)).await.unwrap();
    assert_eq!(stage.blobs(), 2);
    // Only builds with a result are deleted for new ones.
    stage.build("org", "blinky", "main").await;
    stage.build("org", "blinky", "main").await;
    let fourth = stage
        .builds
        .create("org", "user", NewBuild::default())
        .await;
    assert!(matches!(fourth, Err(BuildError::Full { max: 3, .. })));
    stage.finish("org", &first, true).await.unwrap();
    stage.build("org", "blinky", "main").await;
    assert!(
        stage
            .builds
            .artifact("org", &first, REPORTED, "a.bin")
            .await
            .is_err()
    );
    stage.builds.tidy().await.unwrap();
    assert_eq!(stage.blobs(), 1);
    let kept = stage
        .builds
        .artifact("acme", &other, REPORTED, "a.bin")
        .await
        .unwrap();
    stage.builds.read(&kept).await.unwrap();
    stage.hand.advance_ms(3 * 24 * 3_600_000);
    stage.builds.tidy().await.unwrap();
    assert_eq!(stage.blobs(), 0);
    assert!(
        stage
            .builds
            .artifact("acme", &other, REPORTED, "a.bin")
            .await
            .is_err()
    );
}
