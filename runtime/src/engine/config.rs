//! wasmtime's settings, each with its reason. Host and ahead-of-time compiler must agree on
//! everything that affects the code, so both come from here.

use wasmtime::{Config, Enabled, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

/// What one component may take of an engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    core_instances: u32,
    memories: u32,
    tables: u32,
    /// Of each table, and of all tables of an instance together.
    pub(crate) table_elements: usize,
}

impl Share {
    /// `wit-component` makes three core instances of a module (itself, and two that break the cycle
    /// between its imports and its memory); one to spare. Toolchains make a few hundred table
    /// elements.
    pub(super) const FIRST_PARTY: Self = Self {
        core_instances: 4,
        memories: 1,
        tables: 4,
        table_elements: 16 << 10,
    };

    /// Python is linked when it starts, from 38 core instances that share a memory and a table;
    /// JavaScript's interpreter fills a table with its own functions.
    pub(super) const PLUGIN: Self = Self {
        core_instances: 40,
        memories: 1,
        tables: 40,
        table_elements: 64 << 10,
    };
}

/// How much stays mapped when a slot is emptied; with the page-map scan only touched pages count.
/// Returning memory takes the process-wide lock on the address space, which is what keeps fresh
/// instances from scaling across cores.
const KEEP_RESIDENT_BYTES: usize = 2 << 20;

/// Stack of the guest's own calls.
const WASM_STACK_BYTES: usize = 512 << 10;

/// Total stack of a call: the guest's, and that of the host functions that run on top of it.
const CALL_STACK_BYTES: usize = 2 << 20;

/// x86-64-v2: every 64-bit server and desktop CPU since about 2009.
const X86_64_BASELINE: [&str; 5] = [
    "has_sse3",
    "has_ssse3",
    "has_sse41",
    "has_sse42",
    "has_popcnt",
];

/// For an engine that runs `instances` components of one share each.
pub(super) fn host(instances: u32, memory_bytes_max: usize, share: &Share) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(share.core_instances))
        .total_memories(instances.saturating_mul(share.memories))
        .total_tables(instances.saturating_mul(share.tables))
        .total_stacks(instances)
        // These keep a component from taking more than one instance's share.
        .max_core_instances_per_component(share.core_instances)
        .max_memories_per_component(share.memories)
        .max_tables_per_component(share.tables)
        .table_elements(share.table_elements)
        .max_memory_size(memory_bytes_max)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .table_keep_resident(KEEP_RESIDENT_BYTES)
        .async_stack_keep_resident(KEEP_RESIDENT_BYTES)
        .pagemap_scan(Enabled::Auto);
    let mut config = shared();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// For compiling only.
pub(super) fn compiler(target: Option<&str>) -> wasmtime::Result<Config> {
    let mut config = shared();
    if let Some(target) = target {
        config.target(target)?;
        if target.starts_with("x86_64") {
            for feature in X86_64_BASELINE {
                // SAFETY: `host` refuses code whose features its CPU lacks.
                #[allow(unsafe_code, reason = "features beyond the target's minimum")]
                unsafe {
                    config.cranelift_flag_enable(feature)
                };
            }
        }
    }
    Ok(config)
}

fn shared() -> Config {
    let mut config = Config::new();
    // Epochs, not fuel: the same power at a fraction of the cost in compiled code.
    config.epoch_interruption(true);
    // No async components: saves 4 µs per instance and 1 µs per call.
    config.concurrency_support(false);
    config.cranelift_opt_level(OptLevel::Speed);
    config.max_wasm_stack(WASM_STACK_BYTES);
    config.async_stack_size(CALL_STACK_BYTES);
    config
}
