//! Submitting an archive of 50 MB, compared with `tar` unpacking it.
//!
//! The server receives it over loopback, judges all of it, unpacks it and keeps it, and answers when the job is on
//! disk. `tar` reads the file and unpacks it. The files are source-like text and objects that hardly compress.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::site::{Site, has, in_new_folder, median, ms, run as run_tool};

const PACKED_BYTES: u64 = 50_000_000;

const ROUNDS: usize = 9;

/// A submission should take at most this many times as long as `tar xzf`.
const AIM: f64 = 1.5;

const PIPELINE: &[u8] =
    b"version: 1\nbenches: [{ id: b, device: { name: none }, steps: [{ wait: 1ms }] }]\n";

pub(crate) fn run() {
    let site = Site::start("");
    let folder = tempfile::tempdir_in(site.dir.path()).unwrap();
    let archive = folder.path().join("job.tar.gz");
    let (files, bytes) = write(&archive);
    println!(
        "archive: {} MB, {files} files of {} MB together, {ROUNDS} rounds",
        PACKED_BYTES / 1_000_000,
        bytes / 1_000_000
    );
    let packed = std::fs::read(&archive).unwrap();
    let squeezed = has("xz").then(|| squeeze(&archive, folder.path()));
    let (mut ours, mut gzip, mut xz) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(submit(&site, &packed));
        gzip.push(untar("xzf", &archive, folder.path()));
        if let Some(squeezed) = &squeezed {
            xz.push(untar("xJf", squeezed, folder.path()));
        }
    }
    let (ours, gzip) = (median(&mut ours), median(&mut gzip));
    println!("  submit     {:8.0} ms", ms(ours));
    println!("  tar xzf    {:8.0} ms", ms(gzip));
    let ratio = |theirs: Duration| ours.as_secs_f64() / theirs.as_secs_f64();
    println!("  ratio {:.2}, aim {AIM}", ratio(gzip));
    if !xz.is_empty() {
        let xz = median(&mut xz);
        println!(
            "  tar xJf of the same files {:.0} ms, ratio {:.2}",
            ms(xz),
            ratio(xz)
        );
    }
}

fn submit(site: &Site, archive: &[u8]) -> Duration {
    let client = site.client();
    let file = ("archive", "sources.tar.gz", archive);
    let began = Instant::now();
    let made = client.post_form("/api/jobs/submit", &[("ci_yaml", "ci.yml")], file);
    let made = made.unwrap().expect(201);
    let time = began.elapsed();
    let path = format!("/api/jobs/{}/cancel", made["id"].as_str().unwrap());
    client
        .post(&path, &serde_json::json!({}))
        .unwrap()
        .expect(200);
    time
}

fn untar(how: &str, archive: &Path, within: &Path) -> Duration {
    in_new_folder(within, |into| {
        let began = Instant::now();
        run_tool(
            Command::new("tar")
                .arg(how)
                .arg(archive)
                .arg("-C")
                .arg(into),
        );
        began.elapsed()
    })
}

/// The same files, packed by xz at its quickest.
fn squeeze(archive: &Path, folder: &Path) -> std::path::PathBuf {
    let to = folder.join("job.tar.xz");
    in_new_folder(folder, |into| {
        run_tool(
            Command::new("tar")
                .arg("xzf")
                .arg(archive)
                .arg("-C")
                .arg(into),
        );
        let mut tar = Command::new("tar");
        tar.env("XZ_OPT", "-0")
            .arg("cJf")
            .arg(&to)
            .arg("-C")
            .arg(into)
            .arg(".");
        run_tool(&mut tar);
    });
    to
}

/// Writes the archive. How many files it has, and their bytes.
fn write(path: &Path) -> (usize, u64) {
    let gzip = GzEncoder::new(File::create(path).unwrap(), Compression::default());
    let mut tar = tar::Builder::new(gzip);
    let mut random = Random(12);
    append(&mut tar, "ci.yml", PIPELINE);
    let (mut files, mut bytes) = (1, PIPELINE.len() as u64);
    while path.metadata().unwrap().len() < PACKED_BYTES {
        let (name, content) = match files % 4 {
            0 => (format!("lib/o{files}.o"), object(&mut random)),
            _ => (format!("src/m{}/f{files}.c", files % 50), text(&mut random)),
        };
        append(&mut tar, &name, &content);
        files += 1;
        bytes += content.len() as u64;
    }
    tar.into_inner().unwrap().finish().unwrap();
    (files, bytes)
}

fn append(tar: &mut tar::Builder<GzEncoder<File>>, name: &str, content: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.set_mode(0o644);
    header.set_size(content.len() as u64);
    header.set_cksum();
    tar.append_data(&mut header, name, content).unwrap();
}

fn text(random: &mut Random) -> Vec<u8> {
    let words = [
        "uint32_t ",
        "return ",
        "static ",
        "GPIO_SetPin",
        "if (",
        ") {\n",
        "0x4002",
        ";\n",
    ];
    let mut text = String::new();
    while text.len() < 24_000 {
        text.push_str(words[usize::try_from(random.below(words.len() as u64)).unwrap()]);
        text.push_str(&random.below(1 << 16).to_string());
    }
    text.into_bytes()
}

fn object(random: &mut Random) -> Vec<u8> {
    (0..60_000)
        .map(|_| u8::try_from(random.below(200)).unwrap())
        .collect()
}

/// Xorshift: the same files in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}
