//! Loading: what is refused and why, ahead-of-time code, damaged code.

use std::error::Error;

use crate::stage::{Probe, Stage, engine, guest, options};
use runtime::{Engine, EngineOptions, Handler, HandlerOptions, LoadError};

#[test]
fn routes_are_read() {
    let stage = Stage::new(options());
    let [route] = stage.handler.routes() else {
        panic!("{:?}", stage.handler.routes());
    };
    assert_eq!(route.name, "hostile.commit");
    assert_eq!((route.method.as_str(), route.body_limit), ("POST", 1 << 20));
}

#[test]
fn a_missing_import_is_named() {
    let engine = engine();
    let component = engine.compile(&guest()).unwrap();
    let bare = engine.linker::<Probe>();
    let make = || unreachable!("refused before any call");
    let error = Handler::new(&engine, &bare, &component, options(), make).unwrap_err();
    assert!(matches!(error, LoadError::Link { .. }), "{error:?}");
    let why = error.source().unwrap().to_string();
    assert!(why.contains("test:hostile/probe"), "{why}");
}

#[test]
fn instances_cannot_be_promised_twice() {
    let engine = Engine::new(&EngineOptions {
        instances_max: 10,
        ..EngineOptions::default()
    })
    .unwrap();
    let component = engine.compile(&guest()).unwrap();
    let eight = Stage::with(&engine, &component, options()).unwrap();
    let Err(error) = Stage::with(&engine, &component, options()) else {
        panic!("16 instances out of 10");
    };
    assert!(
        matches!(
            error,
            LoadError::NoRoom {
                asked: 8,
                left: 2,
                ..
            }
        ),
        "{error:?}"
    );
    drop(eight);
    Stage::with(&engine, &component, options()).unwrap();
}

#[test]
fn a_component_that_needs_more_memory_than_it_may_have_is_refused() {
    let engine = engine();
    let component = engine.compile(&guest()).unwrap();
    let options = HandlerOptions {
        memory_bytes_max: 64 << 10,
        ..options()
    };
    let Err(error) = Stage::with(&engine, &component, options) else {
        panic!("ran in 64 KiB");
    };
    assert!(matches!(error, LoadError::Routes { .. }), "{error:?}");
}

#[tokio::test]
async fn code_compiled_ahead_for_the_baseline_runs_here() {
    for target in [None, Some("x86_64-unknown-linux-gnu")] {
        if target.is_some() && !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            continue;
        }
        let code = runtime::precompile(&guest(), target).unwrap();
        let engine = engine();
        let component = engine.load(&code).unwrap();
        let stage = Stage::with(&engine, &component, options()).unwrap();
        stage.still_answers().await;
        stage.commit("panic").await.unwrap_err();
    }
}

#[test]
fn other_targets_are_compiled_but_not_loaded() {
    let code = runtime::precompile(&guest(), Some("aarch64-unknown-linux-gnu"));
    // The compiler may have been built for this machine's architecture alone.
    if let Ok(code) = code {
        assert!(cfg!(target_arch = "aarch64") || engine().load(&code).is_err());
    }
    assert!(runtime::precompile(&guest(), Some("pdp11-unknown-none")).is_err());
}

#[test]
fn what_is_no_component_is_refused() {
    let engine = engine();
    for bytes in [&b""[..], b"\0asm", b"\x7fELF", &[0u8; 4096]] {
        assert!(matches!(engine.compile(bytes), Err(LoadError::Compile(_))));
        assert!(matches!(engine.load(bytes), Err(LoadError::Precompiled(_))));
    }
}

/// Seeded: every run sees the same damage. Only the compiler is fuzzed; precompiled code is
/// trusted by contract.
#[test]
fn damaged_components_never_panic() {
    let engine = engine();
    let good = guest();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |bound: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % bound as u64).unwrap()
    };
    for _ in 0..40 {
        let mut bad = good.clone();
        if below(2) == 0 {
            bad.truncate(below(good.len()));
        }
        for _ in 0..=below(8) {
            if !bad.is_empty() {
                let at = below(bad.len());
                bad[at] = u8::try_from(below(256)).unwrap();
            }
        }
        // Damage in data or names is harmless; anything else is an error.
        drop(engine.compile(&bad));
    }
}
