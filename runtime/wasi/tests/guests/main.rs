//! Components that import WASI, written as text: each calls one thing and returns a number.

#![allow(clippy::unwrap_used, reason = "a test crate throughout")]

mod denied;
mod granted;

use std::sync::Arc;

use virtual_wasi::{Output, View, Wasi, WasiData};
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store};

/// One call's data.
#[derive(Default)]
struct Data {
    wasi: Wasi,
    lines: Vec<(Output, String)>,
}

impl WasiData for Data {
    fn wasi(&mut self) -> &mut Wasi {
        &mut self.wasi
    }

    fn line(&mut self, output: Output, line: &str) {
        self.lines.push((output, line.to_owned()));
    }
}

impl Data {
    fn new() -> Self {
        let environment = [("GOGC".to_owned(), "off".to_owned())];
        Self {
            wasi: Wasi::new(Arc::new(environment)),
            lines: Vec::new(),
        }
    }
}

/// An instance that was linked and started.
struct Started {
    store: Store<Data>,
    run: wasmtime::component::TypedFunc<(), (u64,)>,
}

/// What a guest is made of: imported instances, functions lowered from them for the core module,
/// their core types, and the body of `run`.
struct Guest<'g> {
    imports: &'g str,
    lowered: &'g [(&'g str, &'g str, &'g str)],
    run: &'g str,
}

impl Guest<'_> {
    fn text(&self) -> String {
        let mut text = format!(
            r#"(component {}
            (core module $libc
                (memory (export "memory") 1)
                (global $next (mut i32) (i32.const 4096))
                (func (export "realloc") (param i32 i32 i32 i32) (result i32)
                    global.get $next
                    (global.set $next (i32.add (global.get $next) (i32.and (i32.const -8)
                        (i32.add (local.get 3) (i32.const 7)))))))
            (core instance $libc (instantiate $libc))
            (alias core export $libc "memory" (core memory $memory))
            (alias core export $libc "realloc" (core func $realloc))"#,
            self.imports
        );
        let (mut core, mut given) = (String::new(), String::new());
        for (name, function, signature) in self.lowered {
            text.push_str(&format!(
                r#"(alias export {function} (func ${name}-lifted))
                (core func ${name} (canon lower (func ${name}-lifted)
                    (memory $memory) (realloc $realloc)))"#
            ));
            core.push_str(&format!(
                r#"(import "host" "{name}" (func ${name} {signature}))"#
            ));
            given.push_str(&format!(r#"(export "{name}" (func ${name}))"#));
        }
        text.push_str(&format!(
            r#"(core module $main {core}
                (import "libc" "memory" (memory 1))
                (global $kept (mut i32) (i32.const -1))
                (data (i32.const 64) "hello\nworld")
                (func (export "run") (result i64) {}))
            (core instance $main (instantiate $main
                (with "host" (instance {given})) (with "libc" (instance $libc))))
            (alias core export $main "run" (core func $run))
            (func (export "run") (result u64) (canon lift (core func $run))))"#,
            self.run
        ));
        text
    }

    async fn start(&self) -> wasmtime::Result<Started> {
        let mut config = Config::new();
        config.concurrency_support(false);
        let engine = Engine::new(&config)?;
        let component = Component::new(&engine, wat::parse_str(self.text())?)?;
        let mut linker = Linker::new(&engine);
        virtual_wasi::link::<Data, Data>(&mut linker, &component, |data| View(data))?;
        let mut store = Store::new(&engine, Data::new());
        let instance = linker.instantiate_async(&mut store, &component).await?;
        let run = instance.get_typed_func(&mut store, "run")?;
        Ok(Started { store, run })
    }

    /// Start one and call it.
    async fn run(&self) -> wasmtime::Result<u64> {
        self.start().await?.run().await
    }

    /// Why it fails.
    async fn failure(&self) -> wasmtime::Error {
        self.run().await.unwrap_err()
    }
}

impl Started {
    async fn run(&mut self) -> wasmtime::Result<u64> {
        let (number,) = self.run.call_async(&mut self.store, ()).await?;
        Ok(number)
    }
}
