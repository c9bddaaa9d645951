//! Sends any bytes to a simulated pod in a raw mode, which must stay usable; in pod time, not real
//! time.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O");
    runtime.block_on(pod_sim::fuzzing::raw(bytes));
});
