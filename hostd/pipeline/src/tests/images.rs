//! Images, and where a pipeline names them.

use crate::{Caps, Code, parse};

const TEXT: &str = "version: 1
builds:
  - id: fw
    sandbox: { image: localhost/arm:12 }
    steps: [{ run: a }]
  - id: plain
    steps: [{ run: a }]
benches:
  - id: b
    sandbox:
      image: other:1
    device: { name: d }
    steps: [{ run: c }]
";

#[test]
fn each_place_of_a_refused_image_is_told() {
    let pipeline = parse(TEXT, &Caps::default()).unwrap();
    assert!(pipeline.check_images(TEXT, |_| None).is_ok());
    let told = |refused: &str| -> Vec<_> {
        let why = |name: &str| {
            let is_so = refused.is_empty() || name == refused;
            is_so.then(|| (Code::ImageRefused, format!("not {name}")))
        };
        let report = pipeline.check_images(TEXT, why).unwrap_err();
        let problems = report.problems.into_iter();
        problems
            .map(|p| (p.line, p.column, p.code.as_str(), p.path, p.message))
            .collect()
    };
    let at = |line, column, path: &str, message: &str| {
        let code = "image_refused";
        (line, column, code, path.to_owned(), message.to_owned())
    };
    let build = at(4, 23, "builds[0].sandbox.image", "not localhost/arm:12");
    let bench = at(11, 14, "benches[0].sandbox.image", "not other:1");
    assert_eq!(told(""), [build, bench.clone()]);
    assert_eq!(told("other:1"), [bench]);
}
