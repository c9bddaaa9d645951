//! `cargo bench -p runtime -- [pooled|fresh] [CALLS]`: what one call of a handler costs, without a
//! server around it. On a busy machine count instructions instead: `perf stat -e instructions:u`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints, and stops at the first surprise"
)]

use std::path::PathBuf;
use std::time::Instant;

use runtime::{
    BodyStream, CallData, Engine, EngineOptions, Handler, HandlerOptions, Mode, ReplyBody, Request,
};
use wasmtime::component::{ResourceTable, ResourceType};

/// Calls when none are asked for.
const CALLS: u32 = 100_000;

struct Data(ResourceTable);

impl CallData for Data {
    fn table(&mut self) -> &mut ResourceTable {
        &mut self.0
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let calls = args.iter().find_map(|arg| arg.parse().ok());
    let calls = calls.unwrap_or(CALLS);
    for (name, mode) in [
        ("pooled", Mode::Pooled { calls_max: 1_000 }),
        ("fresh", Mode::Fresh),
    ] {
        let others = ["pooled", "fresh"].map(|other| args.iter().any(|arg| arg == other));
        if others == [false; 2] || args.iter().any(|arg| arg == name) {
            measure(name, mode, calls);
        }
    }
}

fn measure(name: &str, mode: Mode, calls: u32) {
    let path = PathBuf::from(env!("HOSTD_HANDLERS")).join("guests/hostile.wasm");
    let wasm = std::fs::read(&path)
        .unwrap_or_else(|e| panic!("{}: {e}; run cargo xtask handlers", path.display()));
    let engine = Engine::new(&EngineOptions::default()).unwrap();
    let component = engine.compile(&wasm).unwrap();
    let mut linker = engine.linker();
    // The harmless request calls nothing of the host; the type must be the same in both interfaces.
    let stream = ResourceType::host::<BodyStream>();
    let mut probe = linker.instance("test:hostile/probe@0.1.0").unwrap();
    probe
        .resource("body-stream", stream, |_, _| Ok(()))
        .unwrap();
    linker.define_unknown_imports_as_traps(&component).unwrap();
    let options = HandlerOptions {
        name: name.to_owned(),
        mode,
        ..HandlerOptions::default()
    };
    let make = || Data(ResourceTable::new());
    let handler = Handler::new(&engine, &linker, &component, options, make).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let from = Instant::now();
    runtime.block_on(async {
        for _ in 0..calls {
            let reply = handler.call(request(), make()).await.unwrap();
            assert!(matches!(reply.body, ReplyBody::Bytes(body) if body == "ok"));
        }
    });
    let each = from.elapsed() / calls.max(1);
    println!("{name}: {calls} calls, {each:?} each");
}

fn request() -> Request {
    Request {
        id: "request".to_owned(),
        route: 0,
        params: Vec::new(),
        query: "none".to_owned(),
        headers: vec![("accept".to_owned(), "*/*".to_owned())],
        body: b"{}".to_vec(),
        caller: None,
    }
}
