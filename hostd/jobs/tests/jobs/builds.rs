//! Builds as people write them: variants and packs, order, conditions, assertions, artifacts.

use std::fs;

use jobs::{Event, Failure, Outcome, RunEnd, Skip};

use crate::Case;
use crate::home::{Home, pipeline_of};

pub(crate) const CASES: &[Case] = &[
    ("the_example_of_the_document_builds", example),
    ("a_broken_build_fails_with_what_it_said", broken),
    ("runs_do_not_see_each_other", apart),
    ("what_needs_a_failed_run_is_not_run", needs),
    ("an_artifact_that_is_not_there_fails_the_run", missing),
    ("assertions_judge_codes_and_texts", assertions),
    ("tests_that_fail_fail_their_step", tests),
    ("more_tests_than_may_be_fail_their_step", many_tests),
    ("what_tests_lack_is_a_mistake_of_the_pipeline", lacking),
    ("the_environment_is_what_the_pipeline_says", environment),
];

fn outcomes(home: &Home, text: &str) -> Vec<(String, Outcome)> {
    let (job, _) = home.run(text);
    job.runs
        .into_iter()
        .map(|run| (run.id, run.outcome))
        .collect()
}

fn example() {
    let document = include_str!("../../../../docs/pipelines.md");
    let (_, rest) = document.split_once("```yaml\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    let home = Home::new();
    let recipe = "all:\n\techo $(BOARD) $(OPT) > $(OUT)/fw.elf\n\ttouch $(OUT)/fw.map\n";
    home.write("Makefile", recipe);
    let (job, _) = home.run(text);
    let ids: Vec<&str> = job.runs.iter().map(|run| run.id.as_str()).collect();
    let builds = ["fw.debug.a", "fw.debug.b", "fw.release.a", "fw.release.b"];
    assert_eq!(ids[..4], builds);
    for run in &job.runs[..4] {
        assert_eq!(run.outcome, Outcome::Passed, "{}", home.log(&run.id));
    }
    let content = |run: usize| fs::read_to_string(&job.runs[run].artifacts[0].path).unwrap();
    assert_eq!(
        (content(0), content(3)),
        ("rev-a -Og\n".to_owned(), "rev-b -Os\n".to_owned())
    );
    assert_eq!(job.runs[0].artifacts.len(), 2);
    assert_eq!(job.runs.len(), 8);
    for run in &job.runs[4..] {
        assert_eq!(run.outcome, Outcome::Skipped(Skip::NoBench));
    }
    assert_eq!(
        (job.verdict().exit_code(), job.verdict().word()),
        (3, "incomplete")
    );
}

fn broken() {
    let home = Home::new();
    let steps = "      - run: |
          echo \"main.c:1: error\" >&2
          exit 2
      - run: echo never
      - { run: 'echo cleanup', if: failure }
      - { run: 'echo last', if: always }";
    let (job, events) = home.run(&pipeline_of("", steps));
    let run = &job.runs[0];
    assert_eq!(run.outcome, Outcome::Failed(Failure::Exit(2)));
    let steps: Vec<&Outcome> = run.steps.iter().map(|step| &step.outcome).collect();
    let skipped = Outcome::Skipped(Skip::StepFailed);
    assert_eq!(
        steps,
        [&run.outcome, &skipped, &Outcome::Passed, &Outcome::Passed]
    );
    assert_eq!(run.steps[0].exit_code, Some(2));
    assert_eq!(run.steps[0].tail, "main.c:1: error\n");
    assert_eq!(run.attempts, 1);
    assert_eq!(job.verdict().exit_code(), 1);
    let sentence = job.verdict().sentence();
    assert!(
        sentence.starts_with("fw: the command ended with exit code 2"),
        "{sentence}"
    );
    let output: Vec<u8> = events
        .iter()
        .flat_map(|event| match event {
            Event::Output(_, bytes) => bytes.clone(),
            _ => Vec::new(),
        })
        .collect();
    assert_eq!(
        String::from_utf8(output).unwrap(),
        "main.c:1: error\ncleanup\nlast\n"
    );
    assert!(!home.log("fw").contains("never\n"));
}

fn apart() {
    let home = Home::new();
    home.write("src/a.c", "int a;");
    let steps = "      - run: |
          test ! -e mark
          test \"$(cat src/a.c)\" = 'int a;'
          touch mark; echo changed > src/a.c
          test ! -e \"$HOSTD_OUT/fw\"; echo \"$HOSTD_PACK\" > \"$HOSTD_OUT/fw\"
    packs: [{ id: a, artifacts: [fw] }, { id: b, artifacts: [fw] }]";
    let ended = outcomes(&home, &pipeline_of("", steps));
    assert!(
        ended.iter().all(|(_, outcome)| outcome.has_passed()),
        "{ended:?}"
    );
    // Nor do the runs change the sources.
    assert_eq!(
        fs::read_to_string(home.source().join("src/a.c")).unwrap(),
        "int a;"
    );
    assert!(!home.source().join("mark").exists());
    // A second job replaces the results of the first.
    assert_eq!(outcomes(&home, &pipeline_of("", steps)).len(), 2);
}

fn needs() {
    let home = Home::new();
    let text = "version: 1
builds:
  - { id: app, needs: [lib], steps: [{ run: 'true' }] }
  - { id: lib, steps: [{ run: 'false' }] }
  - { id: docs, steps: [{ run: 'true' }] }
";
    let ended = outcomes(&home, text);
    let of = |id: &str| ended.iter().find(|(run, _)| run == id).unwrap().1.clone();
    assert_eq!(of("lib"), Outcome::Failed(Failure::Exit(1)));
    assert_eq!(
        of("app"),
        Outcome::Skipped(Skip::NeedFailed("lib".to_owned()))
    );
    assert_eq!(of("docs"), Outcome::Passed);
}

fn missing() {
    let home = Home::new();
    let steps = "      - run: ln -s /etc/passwd \"$HOSTD_OUT/link\"; echo x > \"$HOSTD_OUT/there\"
    packs:
      - { id: a, artifacts: [there, fw.elf] }
      - { id: b, artifacts: [link] }
      - { id: c, artifacts: [there] }";
    let (job, _) = home.run(&pipeline_of("", steps));
    let missing = Failure::MissingArtifact("fw.elf".to_owned(), "there".to_owned());
    assert_eq!(job.runs[0].outcome, Outcome::Failed(missing));
    // What is there is kept all the same.
    let kept = |run: usize| -> Vec<&str> {
        let artifacts = job.runs[run].artifacts.iter();
        artifacts.map(|artifact| artifact.name.as_str()).collect()
    };
    assert_eq!((kept(0), kept(1)), (vec!["there"], vec![]));
    let file = &job.runs[0].artifacts[0].path;
    assert_eq!(fs::read_to_string(file).unwrap(), "x\n");
    let told = job.runs[0].outcome.to_string();
    assert!(told.contains("\"$HOSTD_OUT/fw.elf\""), "{told}");
    assert_eq!(job.runs[1].outcome.kind(), Some("unfit_artifact"));
    assert_eq!(job.runs[2].outcome, Outcome::Passed);
    assert_eq!(job.runs[2].artifacts[0].bytes, 2);
}

fn assertions() {
    let home = Home::new();
    let steps = "      - { run: 'printf ver; sleep 0.1; echo \"sion 3\"; exit 3', id: tool }
      - { assert: { on: tool, exit_code: 3 }, case: refuses }
      - { assert: { on: tool, text: 'version 3' }, case: tells }
      - { assert: { on: tool, text: 'version 4' }, case: newer }";
    let run = home.build(steps);
    let steps: Vec<bool> = run
        .steps
        .iter()
        .map(|step| step.outcome.has_passed())
        .collect();
    assert_eq!(steps, [true, true, true, false], "{:?}", run.steps);
    assert_eq!(run.outcome.kind(), Some("assert"));
    let told = run.outcome.to_string();
    assert_eq!(
        told,
        "wanted \"version 4\" in the output of tool, but it did not come"
    );
}

fn tests() {
    let home = Home::new();
    let cases = "<testsuite><testcase classname='a' name='one'/><testcase classname='a' name='two'><failure message='no'/></testcase></testsuite>";
    home.write("one.xml", cases);
    let steps = "      - { run: 'mkdir r; cp one.xml r/', junit: 'r/*.xml' }";
    let run = home.build(steps);
    let first = ("a::two".to_owned(), "no".to_owned());
    assert_eq!(
        run.outcome,
        Outcome::Failed(Failure::Cases(1, first.0, first.1))
    );
    assert_eq!(run.outcome.to_string(), "the test a::two failed: no");
    assert_eq!(names(&home, &run), ["a::one", "a::two"]);
    let steps = "      - { run: 'echo no > x.xml', junit: 'x.xml' }";
    assert_eq!(home.build(steps).outcome.kind(), Some("bad_junit"));
    // What ends in the middle is no success: the case that failed is counted, and the step says why it fails.
    home.write("cut.xml", &cases[..cases.len() - 40]);
    let steps = "      - { run: 'mkdir r; cp cut.xml r/', junit: 'r/*.xml' }";
    let run = home.build(steps);
    assert_eq!(run.outcome.kind(), Some("bad_junit"));
    let why = "ends in the middle, within the case `a::two`";
    assert!(run.outcome.to_string().contains(why), "{}", run.outcome);
    assert_eq!(
        (run.steps[0].counts.passed, run.steps[0].counts.failed),
        (1, 1)
    );
    // Cases of several steps, and between them one that is a step.
    let steps = "      - { run: 'mkdir r; cp one.xml r/', junit: 'r/*.xml', case: first }
      - { run: 'cp one.xml r/two.xml', junit: 'r/two.xml', case: second, if: always }";
    let run = home.build(steps);
    let both = ["first", "a::one", "a::two", "second", "a::one", "a::two"];
    assert_eq!(names(&home, &run), both);
    assert_eq!(run.steps[1].counts.failed, 1);
}

/// Names of the cases of the run that was carried out last.
fn names(home: &Home, run: &RunEnd) -> Vec<String> {
    let file = home.out().join("logs/fw/1/cases");
    let cases = jobs::cases_of(run, "", file).open().unwrap();
    cases.map(|case| case.unwrap().name).collect()
}

/// None of the cases that are too many is left out silently.
fn many_tests() {
    let home = Home::new();
    let steps = "      - run: |
          (echo '<testsuite>'; yes '<testcase/>' | head -n 20000; echo '</testsuite>') > 0.xml
          for i in 1 2 3 4 5; do cp 0.xml $i.xml; done
        junit: '*.xml'";
    let run = home.build(steps);
    assert_eq!(run.outcome.kind(), Some("bad_junit"), "{}", run.outcome);
    assert!(run.outcome.to_string().contains("more than 100000"));
    assert_eq!(run.steps[0].counts.passed, 100_000);
    // In one file only, a test that failed may be where nobody looks.
    let steps = "      - { run: 'for i in $(seq 1001); do echo x > $i.xml; done', junit: '*.xml' }";
    let run = home.build(steps);
    assert_eq!(run.outcome.kind(), Some("bad_junit"), "{}", run.outcome);
    assert!(
        run.outcome.to_string().contains("more than 1000 files"),
        "{}",
        run.outcome
    );
}

fn environment() {
    let home = Home::new();
    let text = "version: 1
vars: { A: vars, B: vars, C: vars, D: vars }
builds:
  - id: fw
    matrix: { variant: { v: { B: variant, C: variant, D: variant } } }
    packs: [{ id: p, config: { C: pack, D: pack } }]
    steps:
      - run: test \"$A $B $C $D\" = 'vars variant pack step'; pwd; env | sort
        env: { D: step }
";
    let (job, _) = home.run(text);
    let run = &job.runs[0];
    assert!(run.outcome.has_passed(), "{}", run.outcome);
    let lines: Vec<&str> = run.steps[0].tail.lines().collect();
    assert_eq!(lines[0], "/job");
    for line in [
        "CI=true",
        "HOSTD_OUT=/job/.hostd/out",
        "HOSTD_RUN=fw.v.p",
        "HOME=/job",
    ] {
        assert!(lines.contains(&line), "no {line} in {lines:?}");
    }
    let own = std::env::vars().filter(|(name, _)| name.starts_with("CARGO"));
    assert!(own.count() == 0 || !run.steps[0].tail.contains("CARGO"));
}

/// Stands in for Python without pytest, and for pytest without the SDK.
fn lacking() {
    let steps = "      - { pytest: { path: tests }, case: tests, id: tests }";
    let judged = format!("{steps}\n      - assert: {{ on: tests, exit_code: 1 }}");
    let no_module = "No module named pytest";
    let no_sdk = "E   ModuleNotFoundError: No module named 'embeddedci.benchpod'";
    for (says, code, steps, kind) in [
        (no_module, 1, steps, "no_pytest"),
        // An exit code that is expected is not expected of this.
        (no_module, 1, &judged, "no_pytest"),
        (no_sdk, 2, steps, "no_sdk"),
        (no_sdk, 1, steps, "exit_code"),
    ] {
        let home = Home::new();
        let python = format!("import sys\nprint({says:?}, file=sys.stderr)\nsys.exit({code})\n");
        home.write("pytest.py", &python);
        let (job, _) = home.run(&pipeline_of("", steps));
        let outcome = &job.runs[0].outcome;
        assert_eq!(outcome.kind(), Some(kind), "{says} {code}");
        let is_mistake = kind != "exit_code";
        let expected = if is_mistake {
            (2, "definition")
        } else {
            (1, "failure")
        };
        let verdict = job.verdict();
        assert_eq!((verdict.exit_code(), verdict.word()), expected);
        let result = jobs::result_of(&job, &jobs::Subject::default(), &home.out());
        assert_eq!(result.verdict == "pending", is_mistake, "{result:?}");
        let told = outcome.to_string();
        assert_eq!(
            told.contains("pip install --target sdk"),
            is_mistake,
            "{told}"
        );
    }
}
