//! Requests without a network: one task a thread, each asking as fast as it is answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::answerer::Answerer;
use crate::report::Sample;
use crate::work;

pub(crate) fn measure(answerer: &Arc<Answerer>, threads: usize, each: Duration) -> Sample {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_all()
        .build()
        .unwrap();
    let started = Instant::now();
    let until = started + each;
    let cpu_from = cpu_time();
    let tasks: Vec<_> = (0..threads)
        .map(|_| runtime.spawn(ask(answerer.clone(), until)))
        .collect();
    let mut latencies_ns = Vec::new();
    for task in tasks {
        latencies_ns.extend(runtime.block_on(task).unwrap());
    }
    let took = started.elapsed();
    Sample::new(took, latencies_ns).with_cpu(cpu_time() - cpu_from)
}

/// What the whole process used. Unlike the wall clock it does not see other programs.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap(),
        time.tv_nsec.try_into().unwrap(),
    )
}

async fn ask(answerer: Arc<Answerer>, until: Instant) -> Vec<u32> {
    let mut latencies_ns = Vec::with_capacity(1 << 20);
    let mut from = Instant::now();
    while from < until {
        let response = answerer.answer(work::request()).await;
        assert_eq!(std::hint::black_box(response).status(), 200);
        let to = Instant::now();
        latencies_ns.push(u32::try_from((to - from).as_nanos()).unwrap_or(u32::MAX));
        from = to;
    }
    latencies_ns
}
