//! Files without a name that processes of a jail hold open: they take of the disk, and no folder shows them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsFd;

use rustix::fs::{FileType, Stat, StatFs, fstat, fstatfs, stat, statfs};

use crate::usage::Count;

/// The number of init among the processes of a jail.
const INIT: i32 = 1;

/// The number of overlayfs, statfs(2): a file in it need not have the device of its folder.
const OVERLAYFS: u64 = 0x794c_7630;

/// Bytes of a process's maps that are looked through. Who has more may hide something there.
const MAPS_BYTES_MAX: u64 = 1 << 20;

/// The job's folder in the paths that the kernel tells of mapped files, and what it adds for one without a name.
const JOB: &str = "/job/";
const UNNAMED: &str = " (deleted)";

/// The line of a socket's information that tells how many descriptors are on their way to it.
const ON_THEIR_WAY: &str = "scm_fds:";

/// The disk on which the job's folder is.
pub(super) struct Disk {
    device: u64,
    is_overlay: bool,
}

impl Disk {
    pub(super) fn of(folder: impl AsFd) -> io::Result<Self> {
        Ok(Self {
            device: device(&fstat(&folder)?),
            is_overlay: is_overlay(&fstatfs(folder)?),
        })
    }

    /// Whether a file is on it, which has this path.
    fn has(&self, meta: &Stat, path: &str) -> bool {
        self.device == device(meta)
            || self.is_overlay && statfs(path).is_ok_and(|found| is_overlay(&found))
    }
}

/// Counts what all processes of the jail hold, but for init, which holds nothing of the job's. To be asked by a process
/// that is outside of the process namespace and has the root of the jail.
pub(super) fn count(disk: &Disk, count: &mut Count<'_>) {
    // As long as this process is among them, these are those of the host, and the command has not begun.
    if fs::read_link("/proc/self").is_ok() {
        return;
    }
    for process in numbers("/proc", count) {
        if process == INIT {
            continue;
        }
        let tasks = format!("/proc/{process}/task");
        // Threads may have descriptors of their own.
        for task in numbers(&tasks, count) {
            descriptors(&format!("{tasks}/{task}"), disk, count);
        }
        maps(process, count);
        if !count.goes_on() {
            return;
        }
    }
}

/// The entries of a folder in /proc that are numbers. One that cannot be read may have any.
fn numbers(folder: &str, count: &mut Count<'_>) -> Vec<i32> {
    match fs::read_dir(folder) {
        Ok(entries) => entries
            .flatten()
            .filter_map(|entry| number(&entry.file_name()))
            .collect(),
        Err(error) => {
            // Otherwise it has ended.
            count.usage.hides |= error.kind() == io::ErrorKind::PermissionDenied;
            Vec::new()
        }
    }
}

fn number(name: &std::ffi::OsStr) -> Option<i32> {
    name.to_str()?.parse().ok()
}

fn descriptors(task: &str, disk: &Disk, count: &mut Count<'_>) {
    for descriptor in numbers(&format!("{task}/fd"), count) {
        if !count.goes_on() {
            return;
        }
        let path = format!("{task}/fd/{descriptor}");
        let Ok(meta) = stat(&path) else { continue };
        match FileType::from_raw_mode(meta.st_mode) {
            FileType::Socket => {
                let info = format!("{task}/fdinfo/{descriptor}");
                count.usage.hides |= has_descriptors_on_their_way(&info);
            }
            FileType::RegularFile | FileType::Directory
                if meta.st_nlink == 0 && disk.has(&meta, &path) =>
            {
                count.unnamed(&meta);
            }
            _ => {}
        }
    }
}

/// A descriptor in a message that nobody has received is nobody's.
fn has_descriptors_on_their_way(info: &str) -> bool {
    let info = fs::read_to_string(info).unwrap_or_default();
    let mut lines = info.lines();
    let line = lines.find_map(|line| line.strip_prefix(ON_THEIR_WAY));
    line.is_some_and(|number| number.trim() != "0")
}

/// A file that is mapped needs no descriptor.
fn maps(process: i32, count: &mut Count<'_>) {
    let path = format!("/proc/{process}/maps");
    let mut text = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(MAPS_BYTES_MAX).read_to_end(&mut text));
    match read {
        Ok(read) => count.usage.hides |= MAPS_BYTES_MAX <= read as u64,
        Err(error) => {
            count.usage.hides |= error.kind() == io::ErrorKind::PermissionDenied;
            return;
        }
    }
    for line in String::from_utf8_lossy(&text).lines() {
        if let Some(number) = unnamed_in(line) {
            count.usage.hides |= !count.has_unnamed(number);
        }
    }
}

/// The number of the file of the job's that a line of maps is about, if it has no name.
fn unnamed_in(line: &str) -> Option<u64> {
    // Addresses, rights, offset, device, number, path.
    let mut words = line.strip_suffix(UNNAMED)?.splitn(6, ' ');
    let number = words.nth(4)?.parse().ok()?;
    let path = words.next()?.trim_start();
    path.starts_with(JOB).then_some(number)
}

#[expect(
    clippy::unnecessary_cast,
    reason = "the width depends on the processor"
)]
fn device(meta: &Stat) -> u64 {
    meta.st_dev as u64
}

fn is_overlay(found: &StatFs) -> bool {
    u64::try_from(found.f_type).is_ok_and(|number| number == OVERLAYFS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_without_a_name_is_seen_if_it_is_the_job_s() {
        let head = "7f0000000000-7f0000001000 rw-s 00000000 fe:00 1234";
        let pad = "                    ";
        let line = |path: &str| format!("{head}{pad}{path}");
        assert_eq!(unnamed_in(&line("/job/x (deleted)")), Some(1234));
        assert_eq!(unnamed_in(&line("/job/a b (deleted)")), Some(1234));
        for path in ["/job/x", "/memfd:x (deleted)", "/tmp/x (deleted)", ""] {
            assert_eq!(unnamed_in(&line(path)), None, "{path}");
        }
        assert_eq!(unnamed_in(head), None);
    }
}
