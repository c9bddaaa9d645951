//! Generated from `wit/plugin/`: what the host offers to plugins, and what plugins export.

/// Every interface that a plugin may import, with one trait each that the files under `host/` implement.
pub(super) mod imports {
    wasmtime::component::bindgen!({
        path: "../wit/plugin",
        inline: "
            package hostd:server;
            world offers { include hostd:plugin/all-imports@1.0.0; }
        ",
        world: "hostd:server/offers",
        imports: { default: async | trappable },
        with: {
            "hostd:plugin/captures.capture": crate::plugin::host::captures::OpenCapture,
            "hostd:plugin/devices.device": crate::plugin::host::devices::SeenDevice,
        },
    });
}

/// The export `decoding`.
pub(super) mod decoder {
    wasmtime::component::bindgen!({
        path: "../wit/plugin",
        world: "hostd:plugin/decoder",
        imports: { default: async },
        exports: { default: async },
        with: {
            "hostd:plugin/log": super::imports::hostd::plugin::log,
            "hostd:plugin/config": super::imports::hostd::plugin::config,
        },
    });
}

/// The export `events`.
pub(super) mod subscriber {
    wasmtime::component::bindgen!({
        path: "../wit/plugin",
        world: "hostd:plugin/subscriber",
        imports: { default: async },
        exports: { default: async },
        with: {
            "hostd:plugin/types": super::imports::hostd::plugin::types,
            "hostd:plugin/log": super::imports::hostd::plugin::log,
            "hostd:plugin/config": super::imports::hostd::plugin::config,
        },
    });
}

/// The export `http`.
pub(super) mod handler {
    wasmtime::component::bindgen!({
        path: "../wit/plugin",
        world: "hostd:plugin/handler",
        imports: { default: async },
        exports: { default: async },
        with: {
            "hostd:plugin/types": super::imports::hostd::plugin::types,
            "hostd:plugin/log": super::imports::hostd::plugin::log,
            "hostd:plugin/config": super::imports::hostd::plugin::config,
        },
    });
}

/// The export `reports`.
pub(super) mod reporter {
    wasmtime::component::bindgen!({
        path: "../wit/plugin",
        world: "hostd:plugin/reporter",
        imports: { default: async },
        exports: { default: async },
        with: {
            "hostd:plugin/types": super::imports::hostd::plugin::types,
            "hostd:plugin/log": super::imports::hostd::plugin::log,
            "hostd:plugin/config": super::imports::hostd::plugin::config,
        },
    });
}
