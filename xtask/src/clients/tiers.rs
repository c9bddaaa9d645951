//! The tiers of the SDK's suite, and the bench that each of them needs.

/// What a tier talks to.
pub(super) enum BenchKind {
    /// A pod: `hostd pod-sim` with these arguments.
    Pod(&'static [&'static str]),
    /// A pod behind a server: `hostd serve --demo`.
    Server,
}

use BenchKind::{Pod, Server};

/// Some of the suite's files, and the bench they run against.
pub(super) struct Tier {
    pub(super) name: &'static str,
    /// What the tests talk to.
    pub(super) bench_kind: BenchKind,
    /// Environment variables that tell the suite what the bench has.
    pub(super) bench: &'static [(&'static str, &'static str)],
    /// Relative to the source distribution.
    pub(super) files: &'static [&'static str],
}

const ANALOG_V3: &[(&str, &str)] = &[
    ("BENCHPOD_EXPECT_BOARD", "analog"),
    ("BENCHPOD_E2E_BOARD_REV", "v3"),
];

/// Every tier, the most informative ones first.
pub(super) const TIERS: &[Tier] = &[
    Tier {
        name: "pod",
        bench_kind: Pod(&["--board", "v3"]),
        bench: &[
            ("BENCHPOD_EXPECT_BOARD", "analog"),
            ("BENCHPOD_E2E_BOARD_REV", "v3"),
            // Nothing is wired to the bipolar output.
            ("BENCHPOD_E2E_ALLOW_12V", "1"),
        ],
        files: &["tests/e2e/test_e2e_pod.py"],
    },
    Tier {
        name: "pod-v2",
        bench_kind: Pod(&["--board", "v2"]),
        bench: &[
            ("BENCHPOD_EXPECT_BOARD", "analog"),
            ("BENCHPOD_E2E_BOARD_REV", "v2"),
            ("BENCHPOD_E2E_ALLOW_12V", "1"),
        ],
        files: &["tests/e2e/test_e2e_pod.py"],
    },
    Tier {
        name: "gpio",
        bench_kind: Pod(&["--board", "v3"]),
        bench: ANALOG_V3,
        files: &["tests/e2e/test_e2e_gpio.py"],
    },
    Tier {
        name: "la13-14",
        bench_kind: Pod(&["--board", "v3"]),
        bench: ANALOG_V3,
        files: &["tests/e2e/test_e2e_la13_14.py"],
    },
    Tier {
        name: "rev3",
        bench_kind: Pod(&["--board", "v3", "--nrst-la", "8"]),
        bench: &[
            ("BENCHPOD_EXPECT_BOARD", "analog"),
            ("BENCHPOD_E2E_BOARD_REV", "v3"),
            ("BENCHPOD_E2E_NRST_LA", "8"),
        ],
        files: &["tests/e2e/test_e2e_rev3.py"],
    },
    Tier {
        name: "digital",
        bench_kind: Pod(&["--board", "digital"]),
        bench: &[
            ("BENCHPOD_EXPECT_BOARD", "digital"),
            ("BENCHPOD_E2E_BOARD_REV", "v3"),
        ],
        files: &["tests/e2e/test_e2e_digital.py"],
    },
    Tier {
        name: "examples",
        bench_kind: Pod(&["--board", "v3"]),
        bench: ANALOG_V3,
        files: &[
            // First, since it can only use the gateware image that is active when a pod starts.
            "tests/test_control_loop_hw.py",
            "tests/test_capture_replay_hw.py",
            "tests/examples/test_smoke.py",
            "tests/examples/test_can_loopback_hil.py",
            "tests/examples/test_can_ecu_demo.py",
        ],
    },
    Tier {
        name: "spi",
        bench_kind: Pod(&["--board", "v3", "--spi", "5,6,7,8"]),
        bench: &[
            ("BENCHPOD_EXPECT_BOARD", "analog"),
            ("BENCHPOD_E2E_BOARD_REV", "v3"),
            ("BENCHPOD_E2E_SPI", "5,6,7,8"),
            ("BENCHPOD_E2E_SPI_REQUIRED", "1"),
        ],
        files: &["tests/e2e/test_e2e_spi.py"],
    },
    Tier {
        // The demo firmware prints and does what the board that the tests are written for does. OpenOCD
        // programs it.
        name: "dut",
        bench_kind: Pod(&["--board", "v3", "--target", "blank"]),
        bench: &[
            ("BENCHPOD_EXPECT_BOARD", "analog"),
            ("BENCHPOD_E2E_BOARD_REV", "v3"),
            ("BENCHPOD_E2E_NRESET", "1"),
            ("BENCHPOD_E2E_TARGET_CFG", "target/stm32f0x.cfg"),
            (
                "PYTEST_ADDOPTS",
                concat!(
                    "--benchpod-firmware=",
                    env!("CARGO_MANIFEST_DIR"),
                    "/../hostd/target-sim/firmware/demo.elf"
                ),
            ),
        ],
        files: &["tests/e2e/test_e2e_dut.py"],
    },
    Tier {
        // The chip of the board that the tests are written for.
        name: "dut-f446",
        bench_kind: Pod(&[
            "--board",
            "v3",
            "--target",
            "blank",
            "--target-part",
            "STM32F446RE",
        ]),
        bench: &[
            ("BENCHPOD_EXPECT_BOARD", "analog"),
            ("BENCHPOD_E2E_BOARD_REV", "v3"),
            ("BENCHPOD_E2E_NRESET", "1"),
            ("BENCHPOD_E2E_TARGET_CFG", "target/stm32f4x.cfg"),
            (
                "PYTEST_ADDOPTS",
                concat!(
                    "--benchpod-firmware=",
                    env!("CARGO_MANIFEST_DIR"),
                    "/../hostd/target-sim/firmware/demo-f446.elf"
                ),
            ),
        ],
        files: &["tests/e2e/test_e2e_dut.py"],
    },
    Tier {
        name: "usb",
        bench_kind: Pod(&["--board", "v3", "--usb-console"]),
        bench: ANALOG_V3,
        files: &["tests/e2e/test_e2e_usb.py"],
    },
    Tier {
        // The console of older firmware runs the instruments itself.
        name: "usb-old",
        bench_kind: Pod(&[
            "--board",
            "v2",
            "--fault",
            "firmware=3.8.0",
            "--usb-console",
        ]),
        bench: &[
            ("BENCHPOD_EXPECT_BOARD", "analog"),
            ("BENCHPOD_E2E_BOARD_REV", "v2"),
        ],
        files: &["tests/e2e/test_e2e_usb.py"],
    },
    Tier {
        name: "cloud",
        bench_kind: Server,
        bench: ANALOG_V3,
        files: &["tests/e2e/test_e2e_cloud.py"],
    },
    Tier {
        // The SDK's own way to flash, judged by a test of ours since the suite flashes only over a
        // LAN.
        name: "openocd",
        bench_kind: Server,
        bench: ANALOG_V3,
        files: &[concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/clients/test_openocd.py"
        )],
    },
    Tier {
        // Unmodified OpenOCD and pyserial through `hostd connect`.
        name: "bridges",
        bench_kind: Server,
        bench: &[],
        files: &[concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/clients/test_bridges.py"
        )],
    },
    Tier {
        // A published command, judged by a test of ours since its own uses a made-up server.
        name: "upload-build",
        bench_kind: Pod(&["--board", "v3"]),
        bench: &[],
        files: &[concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/clients/test_upload_build.py"
        )],
    },
    Tier {
        // The requests of published clients of board analysis, which are in no package registry; see the file for how to
        // run the published CI action itself.
        name: "emi",
        bench_kind: Server,
        bench: &[],
        files: &[concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/clients/test_emi.py"
        )],
    },
    Tier {
        // Requests generated from the OpenAPI document, one item for each operation.
        name: "schemathesis",
        bench_kind: Server,
        bench: &[],
        files: &[concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/clients/test_schemathesis.py"
        )],
    },
    Tier {
        // The published plugin in a project of ours, in two runs that compete for the same device.
        name: "pytest-plugin",
        bench_kind: Server,
        bench: &[],
        files: &[concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/clients/test_plugin.py"
        )],
    },
    Tier {
        // The published MCP server, driven by a real MCP client.
        name: "mcp",
        bench_kind: Server,
        bench: &[],
        files: &[concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/clients/test_mcp.py"
        )],
    },
    Tier {
        // A job whose tests use the SDK, from inside its jail.
        name: "jobs",
        bench_kind: Server,
        bench: &[],
        files: &[concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/clients/test_jobs.py"
        )],
    },
];
