//! What a build keeps for the next one.

use jobs::Outcome;

use crate::Case;
use crate::home::{Home, pipeline_of};

pub(crate) const CASES: &[Case] = &[("a_cache_is_found_by_what_it_was_made_from", cache)];

const STEPS: &str = "      - run: test -e .ccache/object && echo kept || { mkdir -p .ccache; echo made | tee .ccache/object; }
      - run: test -z \"$FAIL\"
    cache: { key: [Makefile], paths: [.ccache] }";

fn run(home: &Home, head: &str, steps: &str) -> (Option<bool>, String, bool) {
    let (mut job, _) = home.run(&pipeline_of(head, steps));
    let run = job.runs.remove(0);
    let has_passed = run.outcome == Outcome::Passed;
    (run.cache_hit, run.steps[0].tail.clone(), has_passed)
}

fn cache() {
    let home = Home::new();
    home.write("Makefile", "all:");
    let (made, kept) = ("made\n".to_owned(), "kept\n".to_owned());
    // A build that fails keeps nothing.
    let failing = "vars: { FAIL: yes }";
    for _ in 0..2 {
        assert_eq!(
            run(&home, failing, STEPS),
            (Some(false), made.clone(), false)
        );
    }
    assert_eq!(run(&home, "", STEPS), (Some(false), made.clone(), true));
    assert_eq!(run(&home, "", STEPS), (Some(true), kept.clone(), true));
    home.write("other.c", "no matter");
    assert_eq!(run(&home, "", STEPS), (Some(true), kept.clone(), true));
    // Another file, another step, another tool.
    home.write("Makefile", "all: more");
    assert_eq!(run(&home, "", STEPS), (Some(false), made.clone(), true));
    let steps = STEPS.replace("$FAIL", "$NONE");
    assert_eq!(run(&home, "", &steps), (Some(false), made.clone(), true));
    let mut home = home;
    let tools = home.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    home.options.tools.push(jail::Bind {
        host: tools,
        inside: "/opt/tools".into(),
    });
    assert_eq!(run(&home, "", STEPS), (Some(true), kept.clone(), true));
    std::fs::write(home.path().join("tools/cc"), "").unwrap();
    assert_eq!(run(&home, "", STEPS), (Some(false), made, true));
    assert_eq!(run(&home, "", STEPS), (Some(true), kept, true));
}
