//! A world of the tests' own, its calls, and a component of it written as text.

use std::sync::Arc;

use runtime::{
    CallData, CallError, Engine, EngineOptions, Guest, GuestOptions, Invoke, LoadError, State,
};
use wasmtime::Store;
use wasmtime::component::{ResourceAny, ResourceTable};

#[allow(
    unreachable_pub,
    unsafe_code,
    clippy::all,
    clippy::pedantic,
    clippy::restriction,
    reason = "generated code"
)]
mod bindings {
    wasmtime::component::bindgen!({
        inline: "package test:plugin@1.0.0;
            interface acting {
                resource counter {
                    constructor(start: u32);
                    add: func(n: u32) -> u32;
                }
                act: func(crime: u32) -> u32;
            }
            world actor { export acting; }",
        exports: { default: async },
    });
}

pub(crate) use bindings::Actor;

runtime::exports!(bindings::Actor, bindings::ActorPre, "test:plugin/acting");

/// What `act` does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Crime {
    None = 0,
    Loop = 1,
    Memory = 2,
    Table = 3,
    Recurse = 4,
    Trap = 5,
}

/// `{start}` is what the module runs when it starts: 1 loops.
const ACTOR: &str = r#"(component
    (type $counter (resource (rep i32)))
    (core func $new (canon resource.new $counter))
    (core module $m
        (import "host" "new" (func $new (param i32) (result i32)))
        (memory 1)
        (table $t 1 funcref)
        (global $total (mut i32) (i32.const 0))
        (func $spin (loop (br 0)))
        (func $recurse (param i32) (result i32)
            (i32.add (call $recurse (local.get 0)) (i32.const 1)))
        (func $start (if (i32.const {start}) (then (call $spin))))
        (start $start)
        (func (export "counter") (param i32) (result i32)
            (global.set $total (local.get 0))
            (call $new (i32.const 1)))
        (func (export "add") (param i32 i32) (result i32)
            (global.set $total (i32.add (global.get $total) (local.get 1)))
            global.get $total)
        (func (export "act") (param i32) (result i32)
            (if (i32.eq (local.get 0) (i32.const 1)) (then (call $spin)))
            (if (i32.eq (local.get 0) (i32.const 2)) (then
                (loop (drop (memory.grow (i32.const 64))) (br 0))))
            (if (i32.eq (local.get 0) (i32.const 3)) (then
                (loop (drop (table.grow $t (ref.null func) (i32.const 1000))) (br 0))))
            (if (i32.eq (local.get 0) (i32.const 4)) (then
                (drop (call $recurse (i32.const 0)))))
            (if (i32.eq (local.get 0) (i32.const 5)) (then unreachable))
            i32.const 7))
    (core instance $i (instantiate $m
        (with "host" (instance (export "new" (func $new))))))
    (alias core export $i "counter" (core func $core-counter))
    (alias core export $i "add" (core func $core-add))
    (alias core export $i "act" (core func $core-act))
    (func $ctor (param "start" u32) (result (own $counter))
        (canon lift (core func $core-counter)))
    (func $add (param "self" (borrow $counter)) (param "n" u32) (result u32)
        (canon lift (core func $core-add)))
    (func $act (param "crime" u32) (result u32) (canon lift (core func $core-act)))
    (component $shape
        (import "counter" (type $c (sub resource)))
        (import "ctor" (func $ctor (param "start" u32) (result (own $c))))
        (import "add" (func $add (param "self" (borrow $c)) (param "n" u32) (result u32)))
        (import "act" (func $act (param "crime" u32) (result u32)))
        (export $e "counter" (type $c))
        (export "[constructor]counter" (func $ctor)
            (func (param "start" u32) (result (own $e))))
        (export "[method]counter.add" (func $add)
            (func (param "self" (borrow $e)) (param "n" u32) (result u32)))
        (export "act" (func $act)))
    (instance $acting (instantiate $shape
        (with "counter" (type $counter)) (with "ctor" (func $ctor))
        (with "add" (func $add)) (with "act" (func $act))))
    (export "test:plugin/acting@1.0.0" (instance $acting)))"#;

pub(crate) struct Data(ResourceTable);

impl CallData for Data {
    fn table(&mut self) -> &mut ResourceTable {
        &mut self.0
    }
}

pub(crate) fn data() -> Data {
    Data(ResourceTable::new())
}

pub(crate) struct Act(pub(crate) Crime);

impl Invoke<Data, Actor> for Act {
    type Answer = u32;

    async fn invoke(self, actor: &Actor, store: &mut Store<State<Data>>) -> wasmtime::Result<u32> {
        actor
            .test_plugin_acting()
            .call_act(store, self.0 as u32)
            .await
    }
}

pub(crate) struct Count {
    pub(crate) from: u32,
}

impl Invoke<Data, Actor> for Count {
    type Answer = ResourceAny;

    async fn invoke(
        self,
        actor: &Actor,
        store: &mut Store<State<Data>>,
    ) -> wasmtime::Result<ResourceAny> {
        let counter = actor.test_plugin_acting().counter();
        counter.call_constructor(store, self.from).await
    }
}

pub(crate) struct Add(pub(crate) ResourceAny, pub(crate) u32);

impl Invoke<Data, Actor> for Add {
    type Answer = u32;

    async fn invoke(self, actor: &Actor, store: &mut Store<State<Data>>) -> wasmtime::Result<u32> {
        let counter = actor.test_plugin_acting().counter();
        counter.call_add(store, self.0, self.1).await
    }
}

pub(crate) fn options() -> GuestOptions {
    GuestOptions {
        in_flight_max: 2,
        queue_wait_ms_max: 50,
        compute_ms_max: 10_000,
        deadline_ms: 60_000,
        ..GuestOptions::plugin("acme.actor", "1.4.2")
    }
}

/// The engine for plugins, beside one for handlers that is gone by then: the clock goes on.
pub(crate) fn engine() -> Engine {
    let first = Engine::new(&EngineOptions {
        instances_max: 1,
        memory_bytes_max: 1 << 20,
    })
    .unwrap();
    first.plugins(&EngineOptions::plugins(4)).unwrap()
}

pub(crate) fn load(
    engine: &Engine,
    options: GuestOptions,
    loops_at_start: bool,
) -> Result<Guest<Data, Actor>, LoadError> {
    let text = ACTOR.replace("{start}", if loops_at_start { "1" } else { "0" });
    let component = engine.compile(&wat::parse_str(text).unwrap())?;
    Guest::new(engine, &engine.linker(), &component, options, data)
}

pub(crate) fn actor(options: GuestOptions) -> Arc<Guest<Data, Actor>> {
    Arc::new(load(&engine(), options, false).unwrap())
}

pub(crate) async fn act(guest: &Guest<Data, Actor>, crime: Crime) -> Result<u32, CallError> {
    guest.call("test", data(), Act(crime)).await
}
