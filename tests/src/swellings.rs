//! Pipelines that come to much memory of the server, if it lets them: many test cases, much output, long names, large plans.

use std::fmt::Write as _;

/// A build that runs these lines of a shell, and keys of its step.
fn script(lines: &str, keys: &str) -> String {
    let mut text =
        "version: 1\nname: large\nlimits: { disk: 2GiB }\nbuilds:\n  - id: fw\n    steps:\n      - run: |\n".to_owned();
    for line in lines.lines() {
        let _ = writeln!(text, "          {}", line.trim());
    }
    let _ = writeln!(text, "{keys}");
    text
}

/// More cases than a run may have, in each of three steps.
#[must_use]
pub fn many_cases() -> String {
    let lines = "mkdir r
        (echo '<testsuite>'; yes '<testcase/>' | head -n 20000; echo '</testsuite>') > one
        i=0; while [ $i -lt 250 ]; do cp one r/$i.xml; i=$((i+1)); done";
    let again = "      - { run: 'true', junit: 'r/*.xml', if: always }\n".repeat(2);
    script(lines, &format!("        junit: r/*.xml\n{again}"))
}

/// Cases that wrote much.
#[must_use]
pub fn much_output() -> String {
    let lines = r#"mkdir r
        text=$(yes 'all work and no play' | head -c 60000)
        (echo '<testsuite>'
        i=0; while [ $i -lt 200 ]; do echo "<testcase name='t$i'><system-out>$text</system-out></testcase>"; i=$((i+1)); done
        echo '</testsuite>') > one
        i=0; while [ $i -lt 18 ]; do cp one r/$i.xml; i=$((i+1)); done"#;
    script(lines, "        junit: r/*.xml")
}

/// Twenty thousand files with long paths, and one that is looked for and is not there.
#[must_use]
pub fn long_names() -> String {
    let lines = r#"mkdir -p "$HOSTD_OUT"; cd "$HOSTD_OUT"
        long=$(printf '%0240d' 0)
        for level in 1 2 3 4 5 6 7 8 9 10 11 12; do mkdir $long; cd $long; done
        i=0; while [ $i -lt 20000 ]; do : > $i; i=$((i+1)); done"#;
    let keys = "        junit: '**/none.xml'
    cache: { key: ['**/none'], paths: [.hostd/out] }
    packs: [{ id: a, artifacts: [none] }]";
    script(lines, keys)
}

/// A small pipeline that comes to many long runs, all of which wait for a device that there is none of.
#[must_use]
pub fn large_plan() -> String {
    let mut text = "version: 1\nname: plan\nbenches: [{ id: never, device: { name: none }, steps: [{ wait: 1s }] }]\n\
                    builds:\n  - id: a\n    needs: [never]\n    matrix:\n      variant:\n"
        .to_owned();
    for cell in 0..64 {
        let _ = writeln!(text, "        v{cell}: {{ X: '{cell}' }}");
    }
    text.push_str("    steps:\n");
    for _ in 0..95 {
        let _ = writeln!(text, "      - run: 'sleep 600 # {}'", "x".repeat(2_400));
    }
    text
}
