//! Arbitrary bytes as an archive: both passes agree, and nothing is created outside the folder.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a folder can be made");
    archive::fuzz::archive(bytes, folder.path());
});
