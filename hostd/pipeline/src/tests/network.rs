//! Networks: where a pipeline asks for one.

use crate::{Caps, parse};

const TEXT: &str = "version: 1
builds:
  - id: fw
    sandbox: { network: true }
    steps: [{ run: a }]
  - id: other
    steps: [{ run: a }]
benches:
  - id: b
    device: { name: d }
    sandbox:
      network: true
    steps: [{ run: c }]
";

#[test]
fn each_place_that_asks_for_a_network_is_told() {
    let pipeline = parse(TEXT, &Caps::default()).unwrap();
    assert!(pipeline.asks_for_network());
    let report = pipeline.refuse_network(TEXT, "there is none");
    let told: Vec<_> = report
        .problems
        .iter()
        .map(|p| (p.line, p.column, p.code.as_str(), &*p.path, &*p.message))
        .collect();
    let (code, why) = ("network_refused", "there is none");
    let expected = [
        (4, 25, code, "builds[0].sandbox.network", why),
        (12, 16, code, "benches[0].sandbox.network", why),
    ];
    assert_eq!(told, expected);
}

#[test]
fn most_pipelines_ask_for_none() {
    let text = TEXT.replace("true", "false");
    assert!(!parse(&text, &Caps::default()).unwrap().asks_for_network());
}
