//! The command line of `hostd submit`, and what it comes to before a server is asked.

use clap::Parser;

use super::*;

#[derive(Debug, Parser)]
struct Line {
    #[command(flatten)]
    submit: Submit,
}

fn submit(args: &[&str]) -> Result<Submit, clap::Error> {
    Line::try_parse_from([&["submit"], args].concat()).map(|line| line.submit)
}

#[test]
fn arguments() {
    let all = submit(&[
        "a/p.yml",
        "--wait",
        "--out",
        "x",
        "--patience",
        "5s",
        "--ref",
        "main",
    ])
    .unwrap();
    assert_eq!(
        (all.patience, all.reference.as_deref()),
        (Duration::from_secs(5), Some("main"))
    );
    for wrong in [
        &["--wait"][..],
        &["p.yml", "--out", "x"],
        &["p.yml", "--key", "bk_x"],
        &["p.yml", "--patience", "soon"],
    ] {
        assert!(submit(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn sources_are_those_beside_the_pipeline_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.yml");
    std::fs::write(&file, "version: 1").unwrap();
    let file = file.to_str().unwrap();
    assert!(submit(&[file]).unwrap().sources().unwrap().is_some());
    assert!(submit(&["-"]).unwrap().sources().unwrap().is_none());
    assert!(
        submit(&[file, "--source", "-"])
            .unwrap()
            .sources()
            .unwrap()
            .is_none()
    );
    let elsewhere = tempfile::tempdir().unwrap();
    let elsewhere = elsewhere.path().to_str().unwrap();
    for wrong in [["-", "--source", elsewhere], [file, "--source", elsewhere]] {
        assert!(submit(&wrong).unwrap().sources().is_err(), "{wrong:?}");
    }
}

#[test]
fn a_job_is_called_what_somebody_calls_it() {
    let name = |args: &[&str], own: Option<&str>| {
        let labels = submit(args).unwrap().labels(own);
        labels
            .into_iter()
            .find(|(label, _)| *label == "name")
            .unwrap()
            .1
    };
    assert_eq!(
        name(&["a/p.yml", "--name", "mine"], Some("own")).as_deref(),
        Some("mine")
    );
    assert_eq!(name(&["a/p.yml"], Some("own")), None);
    let elsewhere = ci::repository();
    let stem = elsewhere.clone().or(Some("p".to_owned()));
    assert_eq!(name(&["a/p.yml"], None), stem);
    assert_eq!(name(&["-"], None), elsewhere);
}

#[test]
fn a_pipeline_is_checked_for_all_that_no_server_takes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.yml");
    let definition = |text: &str| {
        std::fs::write(&file, text).unwrap();
        submit(&[file.to_str().unwrap()]).unwrap().definition()
    };
    let build = "builds: [{ id: fw, steps: [{ run: make }] }]";
    // Longer than servers allow that configure nothing.
    let long = format!("version: 1\nname: own\ntimeouts: {{ build: 90m }}\n{build}\n");
    assert_eq!(
        definition(&long).ok().and_then(|read| read.name).as_deref(),
        Some("own")
    );
    let Err(told) = definition("version: 1\nbuilds: [{ id: fw, stpes: [], tiemout: 5s }]\n") else {
        panic!("two keys that are none");
    };
    for key in ["stpes", "tiemout"] {
        assert!(told.contains("p.yml:2:") && told.contains(key), "{told}");
    }
}
