//! The real GDB at the simulated target, where it and a compiler are installed.

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use super::*;

const PROGRAM: &str = r#"
volatile unsigned counter;

static unsigned __attribute__((noinline)) add(unsigned a, unsigned b) { return a + b; }

int main(void)
{
    unsigned local = 40;
    local = add(local, 2);
    counter = local;
    for (;;)
        counter++;
}

void start(void) { main(); }

__attribute__((section(".vectors"), used)) void *const vectors[] = { (void *)0x20002000, start, start, start };
"#;

const PLACES: &str = "
MEMORY { flash : ORIGIN = 0x08000000, LENGTH = 64K  ram : ORIGIN = 0x20000000, LENGTH = 8K }
SECTIONS {
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > flash
    .bss (NOLOAD) : { *(.bss*) *(COMMON) } > ram
    /DISCARD/ : { *(.ARM.exidx*) }
}
";

/// Whether the tools are there; otherwise says which is not.
fn can_debug() -> bool {
    ["gdb-multiarch", "arm-none-eabi-gcc"].iter().all(|tool| {
        let found = Command::new(tool).arg("--version").output().is_ok();
        if !found {
            #[expect(clippy::print_stderr, reason = "a test that is left out says why")]
            {
                eprintln!("left out: {tool} is not installed");
            }
        }
        found
    })
}

/// A program with everything that a debugger wants to know.
fn program() -> TempDir {
    compiled(PROGRAM, &["-mcpu=cortex-m0"])
}

fn compiled(program: &str, core: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("main.c"), program).unwrap();
    fs::write(folder.path().join("places.ld"), PLACES).unwrap();
    let compiled = Command::new("arm-none-eabi-gcc")
        .args(core)
        .args(["-mthumb", "-g", "-O0", "-ffreestanding", "-nostdlib"])
        .args(["-Wl,-Tplaces.ld", "-Wl,-estart", "-o", "main.elf", "main.c"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{complaint}");
    folder
}

fn gdb(folder: &Path, at: SocketAddr, commands: &[&str]) -> Command {
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-nx", "-batch", "main.elf", "-ex", "set remotetimeout 30"])
        .args(["-ex", &format!("target extended-remote {at}")])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for command in commands {
        gdb.args(["-ex", command]);
    }
    gdb
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + "\n" + &text(&output.stderr)
}

const BRIDGE: [&str; 5] = ["d0", "--gdb", "0", "--chip", "target/stm32f0x.cfg"];

/// Interrupts GDB once it has waited for the target for a second without a break, which it does nowhere but behind
/// `continue`.
const INTERRUPT: &str = "shell (seen=0; while [ $seen -lt 50 ]; do sleep 0.02; \
    read -r _ _ state _ < /proc/$PPID/stat; [ $state = S ] && seen=$((seen + 1)) || seen=0; done; \
    kill -INT $PPID) > /dev/null 2>&1 &";

/// From the first byte in the flash to a core that runs by itself.
const LOOK: [&str; 26] = [
    "load",
    "compare-sections",
    "monitor reset halt",
    "maintenance flush register-cache",
    "break main",
    "continue",
    "next",
    "print local",
    "next",
    "print local",
    "next",
    "print counter",
    "delete",
    INTERRUPT,
    "continue",
    "print counter > 1000",
    "set var counter = 7",
    "print counter",
    "info registers sp pc xpsr",
    "print $sp == $msp",
    "break add",
    "monitor reset halt",
    "maintenance flush register-cache",
    "continue",
    "finish",
    "detach",
];

/// What GDB printed for `print` number `count`.
fn printed(told: &str, count: usize) -> &str {
    let mark = format!("${count} = ");
    let line = told.lines().find_map(|line| line.strip_prefix(&mark));
    line.unwrap_or_else(|| panic!("no {mark} in:\n{told}"))
}

#[test]
fn a_program_is_loaded_stopped_stepped_and_interrupted() {
    if !can_debug() {
        return;
    }
    let bench = bench();
    let mut connected = Connected::start(&bench.server, &BRIDGE);
    let folder = program();
    let at = connected.address("gdb");
    let session = gdb(folder.path(), at, &LOOK);
    let output = { session }.output().unwrap();
    let told = told(&output);
    assert!(told.contains("Transfer rate"), "{told}");
    assert!(
        told.contains("matched") && !told.contains("MIS-MATCHED"),
        "{told}"
    );
    assert!(told.contains("Breakpoint 1, main"), "{told}");
    assert_eq!(printed(&told, 1), "40", "{told}");
    assert_eq!(printed(&told, 2), "42", "{told}");
    assert_eq!(printed(&told, 3), "42", "{told}");
    assert!(told.contains("received signal SIGINT"), "{told}");
    assert_eq!(printed(&told, 4), "1", "{told}");
    assert_eq!(printed(&told, 5), "7", "{told}");
    assert_eq!(printed(&told, 6), "1", "{told}");
    assert!(told.contains("Value returned is $7 = 42"), "{told}");
    // It was left running.
    let look = || {
        let session = gdb(folder.path(), at, &["print counter", "detach"]);
        let told = self::told(&{ session }.output().unwrap());
        printed(&told, 1).parse::<u32>().unwrap()
    };
    let first = look();
    assert!(look() != first);
    connected.hear("gdb: debugging STM32F030");
    connected.stop();
}

/// Computes with the floating point unit, which it switches on before.
const FLOATS: &str = r#"
volatile float product;

static float __attribute__((noinline)) multiply(float a, float b) { return a * b; }

int main(void)
{
    product = multiply(1.5f, 2.5f);
    for (;;)
        ;
}

void start(void)
{
    *(volatile unsigned *)0xE000ED88 |= 0xF << 20;
    __asm__ volatile("dsb\n isb");
    main();
}

__attribute__((section(".vectors"), used)) void *const vectors[] = { (void *)0x20002000, start, start, start };
"#;

#[test]
fn a_debugger_sees_floating_point_registers_and_the_use_of_memory() {
    if !can_debug() {
        return;
    }
    let bench = Bench::start(&["sim:v3,seed=3,target=stm32f446"]).unwrap();
    let args = ["d0", "--gdb", "0", "--chip", "STM32F446RE"];
    let connected = Connected::start(&bench.server, &args);
    let core = ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"];
    let folder = compiled(FLOATS, &core);
    let commands = [
        "load",
        "monitor reset halt",
        "maintenance flush register-cache",
        "break multiply",
        "continue",
        "print $s0",
        "print b",
        "set var $s1 = 4.0",
        "set var b = 4.0",
        "finish",
        "next",
        "print product",
        "print $fpscr & 0x1f",
        "monitor reset halt",
        "maintenance flush register-cache",
        "delete",
        "set var product = 0.5",
        "watch product",
        "continue",
        "detach",
    ];
    let session = gdb(folder.path(), connected.address("gdb"), &commands);
    let told = told(&{ session }.output().unwrap());
    assert_eq!(printed(&told, 1), "1.5", "{told}");
    assert_eq!(printed(&told, 2), "2.5", "{told}");
    assert!(told.contains("Value returned is $3 = 6"), "{told}");
    assert_eq!(printed(&told, 4), "6", "{told}");
    assert_eq!(printed(&told, 5), "0", "{told}");
    assert!(told.contains("Hardware watchpoint 2: product"), "{told}");
    assert!(told.contains("Old value = 0.5\nNew value = 3.75"), "{told}");
    // It runs on, past the place.
    connected.stop();
}

#[test]
fn gdb_is_cut_off_with_the_lease() {
    if !can_debug() {
        return;
    }
    let bench = bench();
    let mut connected = Connected::start(&bench.server, &BRIDGE);
    let folder = program();
    let session = gdb(
        folder.path(),
        connected.address("gdb"),
        &["load", "continue"],
    );
    let mut session = { session }.spawn().unwrap();
    let mut out = BufReader::new(session.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("Transfer rate") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0);
    }
    take_away(&bench);
    let (code, told) = connected.ended();
    assert_eq!(code, Some(5), "{told}");
    let ended = session.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(
        complaint.contains("Remote connection closed") || complaint.contains("reset by peer"),
        "{complaint}"
    );
}

#[test]
fn a_target_that_is_another_chip_is_told() {
    let bench = bench();
    let args = ["d0", "--gdb", "0", "--chip", "nRF51822_xxAA"];
    let mut connected = Connected::start(&bench.server, &args);
    assert!(is_cut(&mut connected.open("gdb")));
    connected.hear("failed to begin to debug: the target is ");
    connected.stop();
}
