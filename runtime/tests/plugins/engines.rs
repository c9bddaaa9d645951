//! The engine for handlers and the one for plugins.

use std::error::Error;

use runtime::{Engine, EngineOptions, GuestOptions, LoadError};

use crate::world::{engine, load, options};

fn handlers() -> Engine {
    Engine::new(&EngineOptions {
        instances_max: 2,
        memory_bytes_max: 1 << 20,
    })
    .unwrap()
}

fn parts(core_instances: usize) -> Vec<u8> {
    let mut text = "(component (core module $m (table 1 funcref))".to_owned();
    text.push_str(&"(core instance (instantiate $m))".repeat(core_instances));
    text.push(')');
    wat::parse_str(text).unwrap()
}

/// All that the error says.
fn chain(error: &LoadError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}

#[test]
fn a_component_of_many_parts_is_a_plugin_and_no_handler() {
    let (handlers, plugins) = (handlers(), engine());
    plugins.compile(&parts(38)).unwrap();
    let code = runtime::precompile(&parts(38), None).unwrap();
    plugins.load(&code).unwrap();
    for refused in [handlers.compile(&parts(38)), handlers.load(&code)] {
        let Err(error) = refused else {
            panic!("38 core instances in a handler");
        };
        assert!(matches!(error, LoadError::TooLarge(_)), "{error:?}");
        let why = chain(&error);
        assert!(
            why.contains("38 core") && why.contains("maximum of 4 "),
            "{why}"
        );
    }
    let Err(error) = plugins.compile(&parts(41)) else {
        panic!("41 core instances in a plugin");
    };
    let why = chain(&error);
    assert!(
        why.contains("41 core") && why.contains("maximum of 40 "),
        "{why}"
    );
}

#[test]
fn memories_and_tables_have_limits_with_numbers() {
    for (module, numbers) in [
        ("(memory 1025)", ["67174400", "0x4000000"]),
        (
            "(memory 1) (memory 1)",
            ["count of 2 exceeds", "limit of 1"],
        ),
        ("(table 65537 funcref)", ["65537", "65536"]),
    ] {
        let text =
            format!("(component (core module $m {module}) (core instance (instantiate $m)))");
        let Err(error) = engine().compile(&wat::parse_str(text).unwrap()) else {
            panic!("loaded {module}");
        };
        assert!(matches!(error, LoadError::TooLarge(_)), "{error:?}");
        let why = chain(&error);
        assert!(numbers.iter().all(|number| why.contains(number)), "{why}");
    }
}

#[test]
fn both_engines_run_the_same_code() {
    let (handlers, plugins) = (handlers(), engine());
    assert_eq!(handlers.code_hash(), plugins.code_hash());
    assert_eq!(plugins.code_hash(), engine().code_hash());
    let code = runtime::precompile(&parts(2), None).unwrap();
    handlers.load(&code).unwrap();
    plugins.load(&code).unwrap();
}

#[test]
fn there_is_room_for_two_versions_and_no_third() {
    let engine = engine();
    let all = || GuestOptions {
        in_flight_max: 4,
        ..options()
    };
    let old = load(&engine, all(), false).unwrap();
    let _new = load(&engine, all(), false).unwrap();
    let error = load(&engine, all(), false).unwrap_err();
    assert_eq!(
        error.to_string(),
        "load plugin acme.actor 1.4.2: 4 instances asked for, 0 left of the engine's"
    );
    drop(old);
    load(&engine, all(), false).unwrap();
}
