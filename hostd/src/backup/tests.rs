//! Backups of a store with captures and blobs, and what is wrong with damaged ones.

use std::os::unix::fs::PermissionsExt;

use decode::segment::{Encoder, EncoderSpec};
use tempfile::TempDir;

use super::check::{Findings, check};
use base::folder::{self, is_half_restored};

use super::restore::restore;
use super::*;
use base::space::Space;
use identity::offline::with_identity;
use lab::captures::files::{Files, LOGIC};
use store::Store;
use store::captures::{CaptureRecord, ChannelRecord, Kind};
use store::leases::LeaseRecord;
use store::waveforms;

const ORG: &str = "01ARYZ6S410000000000000000";
const CAPTURE: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const SAMPLES: u64 = 100_000;

struct Folder {
    dir: TempDir,
    blob: String,
}

impl Folder {
    /// A data folder with a capture, a waveform and a lease.
    async fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let data = dir.path().join("data");
        private::data_folder(&data).unwrap();
        let store = Store::open(&data, 4).unwrap();
        let files = Files::open(data.join(folder::CAPTURES), Space::boundless()).unwrap();
        let spec = EncoderSpec {
            channels: 1,
            sample_rate_hz: 1e6,
        };
        let mut encoder = Encoder::new(spec).unwrap();
        let edges: Vec<_> = (0..SAMPLES / 10).map(|n| (n * 10, n % 2)).collect();
        encoder.push_edges(&edges, SAMPLES).unwrap();
        files.write(CAPTURE, LOGIC, &encoder.finish()).unwrap();
        store.capture_put(capture()).await.unwrap();
        let staged = data.join("sample");
        fs::write(&staged, b"samples").unwrap();
        let (_, blob) = hash(&staged).unwrap();
        let path = data.join(format!("blobs/{}/{blob}", &blob[..2]));
        private::make_folder(path.parent().unwrap()).unwrap();
        fs::rename(&staged, &path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let quota = waveforms::Quota {
            count_max: 10,
            bytes_max: 1000,
        };
        let added = store.waveform_add(waveform(&blob), quota).await.unwrap();
        assert!(added.is_ok());
        let lease = LeaseRecord {
            device: "d".into(),
            lease_id: "l".into(),
            owner: "o/u".into(),
            holder: "h".into(),
            ttl_ms: 1000,
            expires_ms: u64::MAX,
            ..LeaseRecord::default()
        };
        store.lease_put(lease).await.unwrap();
        store.close().await.unwrap();
        Self { dir, blob }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn data(&self) -> PathBuf {
        self.path("data")
    }

    fn back_up(&self, name: &str) -> Result<Report, BackupError> {
        let store = Store::open(&self.data(), 4)?;
        let stop = AtomicBool::new(false);
        take(&self.data(), &store.snapshot()?, &self.path(name), &stop)
    }

    fn blob(&self, folder: &str) -> PathBuf {
        let blob = &self.blob;
        self.path(folder)
            .join(format!("blobs/{}/{blob}", &blob[..2]))
    }
}

fn capture() -> CaptureRecord {
    CaptureRecord {
        status: Status::Done,
        channels: vec![ChannelRecord {
            la: Some(1),
            name: "LA1".into(),
            unit: String::new(),
            sample_rate_hz: 1e6,
            samples: SAMPLES,
            bits: 1,
            full_scale: 1.0,
            offset: 0.0,
        }],
        ..CaptureRecord::new(CAPTURE.into(), ORG.into(), String::new(), Kind::Logic, 0)
    }
}

fn waveform(blob: &str) -> waveforms::WaveformRecord {
    waveforms::WaveformRecord {
        id: "01ARZ3NDEKTSV4RRFFQ69G5FAW".into(),
        org: ORG.into(),
        user: "u".into(),
        name: "w".into(),
        kind: waveforms::Kind::Codes,
        count: 7,
        sample_rate_hz: 1000.0,
        bits: 8,
        full_scale: 0.0,
        unit: waveforms::Unit::Volts,
        samples: Some(waveforms::Samples {
            sha256: blob.into(),
            size_bytes: 7,
        }),
        output: None,
        segments: Vec::new(),
        created_ms: 0,
    }
}

fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    // A backup may hold the same file as the data folder.
    fs::remove_file(path).unwrap();
    private::make_file(path).unwrap().write_all(&bytes).unwrap();
}

fn entries(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn what_was_backed_up_is_there_again_and_leases_have_ended() {
    let folder = Folder::new().await;
    let report = folder.back_up("backup").unwrap();
    assert_eq!((report.files, report.missing), (3, 0));
    assert_eq!(entries(folder.dir.path()), ["backup", "data"]);
    let whole = Findings {
        captures: 1,
        blobs: 1,
        records: check(&folder.data()).unwrap().records,
        ..Findings::default()
    };
    assert_eq!(check(&folder.path("backup")).unwrap(), whole);
    let again = folder.path("again");
    assert_eq!(
        restore(&folder.path("backup"), &again).await.unwrap(),
        report
    );
    assert_eq!(entries(&again), ["blobs", "captures", "hostd.redb"]);
    assert_eq!(check(&again).unwrap(), whole);
    let store = Store::open(&again, 4).unwrap();
    let leases = store.leases_all().await.unwrap();
    assert_eq!((leases.len(), leases[0].expires_ms), (1, 0));
    assert_eq!(store.capture_get(CAPTURE).await.unwrap(), Some(capture()));
}

#[tokio::test]
async fn a_folder_that_holds_something_is_refused() {
    let folder = Folder::new().await;
    folder.back_up("backup").unwrap();
    for (target, why) in [("backup", "not empty"), ("data/inside", "inside")] {
        let error = folder.back_up(target).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let error = restore(&folder.path("backup"), &folder.data()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("not empty"), "{error}");
    assert!(check(&folder.data()).unwrap().faults.is_empty());
}

#[tokio::test]
async fn a_backup_that_does_not_come_to_its_end_has_no_name() {
    let folder = Folder::new().await;
    let store = Store::open(&folder.data(), 4).unwrap();
    let stop = AtomicBool::new(true);
    let snapshot = store.snapshot().unwrap();
    let stopped = take(&folder.data(), &snapshot, &folder.path("b"), &stop);
    assert!(matches!(stopped, Err(BackupError::Stopped)), "{stopped:?}");
    assert_eq!(entries(folder.dir.path()), ["data"]);
}

#[tokio::test]
async fn a_damaged_or_newer_backup_is_not_restored() {
    let folder = Folder::new().await;
    folder.back_up("damaged").unwrap();
    flip(&folder.blob("damaged"));
    let error = restore(&folder.path("damaged"), &folder.path("a")).await;
    assert!(
        matches!(error, Err(BackupError::Differs { .. })),
        "{error:?}"
    );
    assert_eq!(entries(&folder.path("a")), Vec::<String>::new());
    folder.back_up("newer").unwrap();
    let path = folder.path("newer").join(MANIFEST);
    let manifest = fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("\"format\": 1", "\"format\": 2"),
        ("hostd.redb", "../hostd.redb"),
    ] {
        fs::write(&path, manifest.replace(from, to)).unwrap();
        let error = restore(&folder.path("newer"), &folder.path("b")).await;
        let refused = matches!(error, Err(BackupError::Manifest { .. }));
        assert!(refused, "{error:?}");
    }
    assert!(!folder.path("b").exists());
}

#[tokio::test]
async fn an_interrupted_restore_is_no_data_folder_and_can_be_done_again() {
    let folder = Folder::new().await;
    folder.back_up("backup").unwrap();
    let half = folder.path("half");
    private::make_folder(&half.join("incomplete-restore-1/blobs")).unwrap();
    private::make_folder(&half.join("captures")).unwrap();
    assert!(is_half_restored(&half) && !is_half_restored(&folder.data()));
    let half_dir = half.clone();
    // What opens it without a server.
    let refused = std::thread::spawn(move || {
        with_identity(&half_dir, "bk", async |_| ()).map_err(|e| e.to_string())
    });
    let refused = refused.join().unwrap().unwrap_err();
    assert!(refused.contains("hostd restore again"), "{refused}");
    restore(&folder.path("backup"), &half).await.unwrap();
    assert!(!is_half_restored(&half));
    assert_eq!(entries(&half), ["blobs", "captures", "hostd.redb"]);
}

#[tokio::test]
async fn each_kind_of_damage_is_found() {
    let folder = Folder::new().await;
    let data = folder.data();
    let samples = data.join(format!("captures/{CAPTURE}.{LOGIC}"));
    let faults = || check(&data).unwrap().faults.join("\n");
    assert_eq!(faults(), "");
    for path in [&samples, &folder.blob("data"), &data.join("hostd.redb")] {
        let good = fs::read(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let name = name.split('.').next().unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(faults().contains("open to others (mode 640)"));
        flip(path);
        if name != "hostd" {
            assert!(faults().contains(name), "{name}: {}", faults());
        }
        fs::remove_file(path).unwrap();
        if name != "hostd" {
            assert!(faults().contains(name), "{name}: {}", faults());
        }
        private::make_file(path)
            .unwrap()
            .write_all(&good[..good.len() / 2])
            .unwrap();
        assert!(faults().contains(name), "{name}: {}", faults());
        fs::write(path, &good).unwrap();
        assert_eq!(faults(), "");
    }
    private::make_file(&data.join("captures/x.part")).unwrap();
    let notes = check(&data).unwrap().notes;
    assert_eq!(notes, ["captures/x.part belongs to nothing"]);
}

#[tokio::test]
async fn what_is_missing_is_told_and_the_rest_is_backed_up() {
    let folder = Folder::new().await;
    let path = format!("captures/{CAPTURE}.{LOGIC}");
    fs::remove_file(folder.data().join(&path)).unwrap();
    let report = folder.back_up("backup").unwrap();
    assert_eq!((report.files, report.missing), (2, 1));
    let manifest = read_manifest(&folder.path("backup")).unwrap();
    assert_eq!(manifest.missing, [path]);
}

#[tokio::test]
async fn plugins_come_back_and_what_they_are_compiled_to_does_not() {
    let folder = Folder::new().await;
    let data = folder.data();
    let packages = data.join(folder::PLUGIN_PACKAGES);
    private::make_folder(&packages).unwrap();
    let staged = packages.join("staged");
    private::make_file(&staged)
        .unwrap()
        .write_all(b"code")
        .unwrap();
    let (_, component) = hash(&staged).unwrap();
    let file = format!("{component}.wasm");
    fs::rename(&staged, packages.join(&file)).unwrap();
    let cache = data.join(folder::PLUGIN_CACHE);
    private::make_folder(&cache).unwrap();
    private::make_file(&cache.join("key")).unwrap();
    let store = Store::open(&data, 4).unwrap();
    let package = store::plugins::Package {
        plugin: "acme.x".into(),
        digest: "d".into(),
        version: "1.0.0".into(),
        manifest: String::new(),
        component,
        component_bytes: 4,
        signed_by: None,
        by: "u".into(),
        at_ms: 1,
    };
    store.plugin_stage(package, 1).await.unwrap();
    store.close().await.unwrap();
    folder.back_up("backup").unwrap();
    assert_eq!(check(&folder.path("backup")).unwrap().faults, [""; 0]);
    let restored = folder.path("restored");
    restore(&folder.path("backup"), &restored).await.unwrap();
    let path = restored.join(folder::PLUGIN_PACKAGES).join(&file);
    assert_eq!(fs::read(&path).unwrap(), b"code");
    assert!(!restored.join(folder::PLUGIN_CACHE).exists());
    assert_eq!(check(&restored).unwrap().faults, [""; 0]);
    flip(&path);
    assert!(check(&restored).unwrap().faults[0].contains("does not hold"));
    private::make_file(&packages.join("other.wasm")).unwrap();
    assert!(check(&data).unwrap().notes[0].contains("other.wasm belongs to nothing"));
}
