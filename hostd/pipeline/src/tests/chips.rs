//! Chips that are flashed, and where their names come from.

use crate::plan::Action;
use crate::{Caps, expand, parse};

const TEXT: &str = "version: 1
builds:
  - id: fw
    steps: [{ run: make }]
    packs:
      - { id: one, artifacts: [fw.elf], targets: [stm32f03r8] }
      - { id: two, artifacts: [fw.elf], targets: [stm32f030f4, stm32f030k6] }
      - { id: any, artifacts: [fw.elf] }
benches:
  - id: each
    for_each: fw
    device: { name: d }
    steps:
      - flash: { artifact: fw.elf }
  - id: other
    needs: [fw]
    device: { name: d }
    steps:
      - flash: { artifact: fw.two/fw.elf, target: stm32f030k6 }
      - flash: { artifact: fw.one/fw.elf }
    always:
      - flash: { artifact: fw.any/fw.elf, target: stn32f1x }
";

#[test]
fn a_flash_without_a_target_has_the_chip_of_its_pack() {
    let caps = Caps::default();
    let plan = expand(&parse(TEXT, &caps).unwrap(), &caps);
    let targets = |id: &str| -> Vec<Option<String>> {
        let run = plan.runs.iter().find(|run| run.id == id).unwrap();
        let steps = run.steps.iter().map(|step| match &step.action {
            Action::Flash(flash) => flash.target.clone(),
            _ => panic!("another step"),
        });
        steps.collect()
    };
    let chip = |name: &str| Some(name.to_owned());
    assert_eq!(targets("each.one"), [chip("stm32f03r8")]);
    // Which of the two it is, the wiring of the device says.
    assert_eq!(targets("each.two"), [None]);
    assert_eq!(targets("each.any"), [None]);
    assert_eq!(targets("other"), [chip("stm32f030k6"), chip("stm32f03r8")]);
}

#[test]
fn each_place_that_flashes_an_unknown_chip_is_told() {
    let pipeline = parse(TEXT, &Caps::default()).unwrap();
    assert!(pipeline.check_chips(TEXT, |_| None).is_ok());
    let why = |chip: &str| (!chip.starts_with("stm32f030")).then(|| format!("no chip {chip}"));
    let report = pipeline.check_chips(TEXT, why).unwrap_err();
    let told: Vec<String> = report
        .problems
        .iter()
        .map(|p| format!("{} {} {}", p.line, p.path, p.message))
        .collect();
    let hint = "; it comes from the `targets` of the artifact's pack: correct them, or give the step a `target`";
    let expected = [
        format!("14 benches[0].steps[0].flash no chip stm32f03r8{hint}"),
        format!("20 benches[1].steps[1].flash no chip stm32f03r8{hint}"),
        "22 benches[1].always[0].flash.target no chip stn32f1x".to_owned(),
    ];
    assert_eq!(told, expected);
    assert!(
        report
            .problems
            .iter()
            .all(|p| p.code.as_str() == "unknown_chip")
    );
}
