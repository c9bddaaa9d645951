//! From a folder to an answer, and all the ways back.

use serde_json::json;
use tests::Server;

use super::{Bench, ID, MARK, WANTS, function, mark_of, run};

#[test]
fn a_plugin_is_installed_approved_called_and_removed_while_the_server_runs() {
    let bench = Bench::new();
    let folder = bench.version("1.0.0", WANTS, "");
    bench.get("/mark").expect_error(404, "not_found");
    let told = bench
        .plugin(&["install", &folder.display().to_string()])
        .ok();
    assert!(told.contains("hostd plugin approve test.plugin"), "{told}");

    // Installed, and without any right.
    let refused = bench.get("/mark");
    refused.expect_error(403, "not_granted");
    let sentence = refused.json()["error"].as_str().unwrap().to_owned();
    assert!(
        sentence.contains("hostd plugin approve test.plugin --org"),
        "{sentence}"
    );

    bench.plugin(&["approve", ID]).ok();
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
    assert_eq!(bench.get("/mark").json()["path"], "/mark");
    let shown = bench.plugin(&["list"]).ok();
    assert!(
        shown.contains("test.plugin  1.0.0  active  6 endpoints"),
        "{shown}"
    );

    // It is part of the server's description, and of its metrics.
    let document = bench.client().get("/api/openapi.json").unwrap().expect(200);
    let operation = &document["paths"]["/api/x/test.plugin/mark"]["get"];
    assert_eq!(operation["operationId"], "x.test.plugin.mark");
    assert!(document["paths"]["/api/bench/devices"].is_object());
    let metrics = bench.client().get("/metrics").unwrap();
    let metrics = &metrics.text;
    assert!(
        metrics.contains("hostd_plugin_info{plugin=\"test.plugin\",version=\"1.0.0\"} 1"),
        "{metrics}"
    );
    assert!(
        metrics.contains("hostd_plugin_calls_total{plugin=\"test.plugin\",export=\"http\"} 2"),
        "{metrics}"
    );

    bench.plugin(&["disable", ID]).ok();
    bench.get("/mark").expect_error(503, "plugin_unavailable");
    bench.plugin(&["enable", ID]).ok();
    bench.get("/mark").expect(200);
    bench.plugin(&["remove", ID]).ok();
    bench.get("/mark").expect_error(404, "not_found");
    assert_eq!(bench.plugin(&["list"]).ok(), "no plugins are installed\n");
}

#[test]
fn an_update_serves_at_once_and_the_version_before_can_come_back() {
    let bench = Bench::new();
    bench.install("1.0.0");
    bench.install("2.0.0");
    assert_eq!(mark_of(&bench.get("/mark")), "MARK:version-2.0.0:");
    let listed = bench.plugin(&["list"]).ok();
    let (serving, before) = listed.split_once("  before: 1.0.0").unwrap();
    // Which packages these are, and since when they are there.
    let which = |text: &str| {
        let (_, package) = text.split_once('(').unwrap();
        let (digest, at) = package.split_once(", ").unwrap();
        assert!(at.starts_with("20"), "{listed}");
        digest.to_owned()
    };
    assert_eq!(which(serving).len(), 12, "{listed}");
    assert_ne!(which(serving), which(before), "{listed}");
    bench.plugin(&["rollback", ID]).ok();
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
    bench.plugin(&["rollback", ID]).ok();
    assert_eq!(mark_of(&bench.get("/mark")), "MARK:version-2.0.0:");
}

#[test]
fn a_version_must_prove_itself_also_after_it_was_off_or_installed_anew() {
    for again in ["off and on", "installed anew"] {
        let bench = Bench::new();
        bench.install("1.0.0");
        let folder = bench.install("2.0.0");
        if again == "installed anew" {
            bench
                .plugin(&["install", &folder.display().to_string()])
                .ok();
        } else {
            bench.plugin(&["disable", ID]).ok();
            bench.plugin(&["enable", ID]).ok();
        }
        for _ in 0..5 {
            bench.get("/crime/trap").expect_error(502, "plugin_failed");
        }
        bench.until_replaced_by(MARK);
    }
}

#[test]
fn an_update_that_wants_more_waits_while_the_old_version_serves() {
    let bench = Bench::new();
    let modest = bench.version("1.0.0", "interfaces = [\"store\"]\npublic = true\n", "");
    bench
        .plugin(&["install", &modest.display().to_string()])
        .ok();
    bench.plugin(&["approve", ID]).ok();
    let greedy = bench.version("2.0.0", WANTS, "");
    let told = bench
        .plugin(&["install", &greedy.display().to_string()])
        .ok();
    assert!(
        told.contains("it waits") && told.contains("--secret TOKEN"),
        "{told}"
    );
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
    let shown = bench.plugin(&["list"]).ok();
    assert!(shown.contains("version 2.0.0 waits"), "{shown}");
    let told = bench.plugin(&["approve", ID]).ok();
    assert!(told.contains("the version that waited serves"), "{told}");
    assert_eq!(mark_of(&bench.get("/mark")), "MARK:version-2.0.0:");
}

#[test]
fn plugins_grants_and_keys_outlive_the_server_also_when_it_is_killed() {
    let mut bench = Bench::new();
    bench.install("1.0.0");
    bench.install("2.0.0");
    bench
        .call(&json!({"function": "store.put", "key": "a", "value": "kept"}))
        .expect(200);
    bench
        .plugin(&["configure", ID, "--set", "greeting=hi"])
        .ok();
    bench.server.kill().unwrap();
    bench.server = Server::demo_in(bench.dir.path()).unwrap();
    bench.comes_back_as("MARK:version-2.0.0:");
    let kept = bench
        .call(&json!({"function": "store.get", "key": "a"}))
        .expect(200);
    assert_eq!(kept["value"], "kept");
    assert_eq!(
        bench.call(&function("config.get")).expect(200)["greeting"],
        "hi"
    );
    bench.plugin(&["rollback", ID]).ok();
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
}

#[test]
fn what_the_server_fails_at_is_not_held_against_a_plugin() {
    let mut bench = Bench::new();
    bench.install("1.0.0");
    assert!(bench.server.stop().unwrap());
    // Something is in the way of the compiled components, for whoever runs the server, root too.
    let cache = bench.dir.path().join("data/plugins/cache");
    let aside = bench.dir.path().join("aside");
    std::fs::rename(&cache, &aside).unwrap();
    std::fs::write(&cache, b"").unwrap();
    bench.server = Server::demo_in(bench.dir.path()).unwrap();
    let list = || bench.plugin(&["list"]).ok();
    let shown = tests::until(list, |shown| shown.contains("1.0.0  failed")).unwrap();
    assert!(
        shown.contains("could not be loaded by this server"),
        "{shown}"
    );
    bench.get("/mark").expect_error(503, "plugin_unavailable");
    let log = bench.plugin(&["logs", ID]).ok();
    assert!(log.contains("compiled plugins"), "{log}");
    // The next start tries again.
    assert!(bench.server.stop().unwrap());
    std::fs::remove_file(&cache).unwrap();
    std::fs::rename(&aside, &cache).unwrap();
    bench.server = Server::demo_in(bench.dir.path()).unwrap();
    bench.comes_back_as(MARK);
}

#[test]
fn what_was_approved_and_does_not_load_by_no_fault_of_its_own_serves_after_the_next_start() {
    let mut bench = Bench::new();
    let modest = bench.version("1.0.0", "public = true\n", "");
    let greedy = bench.version("2.0.0", WANTS, "");
    let install = |package: &std::path::Path| {
        let path = package.display().to_string();
        bench.plugin(&["install", &path]).ok()
    };
    install(&modest);
    bench.plugin(&["approve", ID]).ok();
    assert!(install(&greedy).contains("it waits"));
    // Something is in the way of the compiled components.
    let cache = bench.dir.path().join("data/plugins/cache");
    let aside = bench.dir.path().join("aside");
    std::fs::rename(&cache, &aside).unwrap();
    std::fs::write(&cache, b"").unwrap();
    let told = bench.plugin(&["approve", ID]).ok();
    assert!(told.contains("does not load"), "{told}");
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
    bench.server.kill().unwrap();
    std::fs::remove_file(&cache).unwrap();
    std::fs::rename(&aside, &cache).unwrap();
    bench.server = Server::demo_in(bench.dir.path()).unwrap();
    bench.until_serving("MARK:version-2.0.0:");
}

#[test]
fn a_plugin_for_which_there_is_no_room_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, "[plugins]\ninstances_max = 8\n").unwrap();
    let with = ["--config", config.to_str().unwrap()];
    let server = Server::demo_in_with(dir.path(), &with).unwrap();
    let bench = Bench { dir, server };
    let large = bench.version("1.0.0", WANTS, "in_flight = 64");
    let told = bench.plugin(&["install", &large.display().to_string()]);
    let told = told.refused();
    assert!(
        told.contains("64 calls at once")
            && told.contains("limits.in_flight")
            && told.contains("plugins.instances_max"),
        "{told}"
    );
    bench.install("1.0.0");
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
}

#[test]
fn what_does_not_load_leaves_everything_as_it_was() {
    let bench = Bench::new();
    bench.install("1.0.0");
    let broken = bench.version("2.0.0", WANTS, "");
    let path = broken.display().to_string();
    let install = || bench.plugin(&["install", &path]).refused();

    let wasm = broken.join("plugin.wasm");
    let whole = std::fs::read(&wasm).unwrap();
    std::fs::write(&wasm, &whole[..whole.len() / 2]).unwrap();
    assert!(install().contains("compile"), "{}", install());
    std::fs::write(&wasm, b"not a component").unwrap();
    assert!(install().contains("component"));
    // A component of another world, with imports that no plugin has.
    std::fs::write(&wasm, super::component("badges.wasm")).unwrap();
    assert!(install().contains("hostd:plugin"), "{}", install());
    std::fs::write(&wasm, &whole).unwrap();
    std::fs::write(
        broken.join("plugin.toml"),
        "[plugin]\nid = \"Bad Id\"\nversion = \"x\"\n",
    )
    .unwrap();
    let told = install();
    assert!(
        told.contains("plugin.id") && told.contains("plugin.version"),
        "{told}"
    );

    assert_eq!(mark_of(&bench.get("/mark")), MARK);
    let shown = bench.plugin(&["list"]).ok();
    assert!(
        shown.contains("1.0.0  active") && !shown.contains("2.0.0"),
        "{shown}"
    );
    assert!(
        bench
            .plugin(&["rollback", ID])
            .refused()
            .contains("no version before")
    );
}

#[test]
fn a_package_is_one_file_and_can_be_checked_without_a_server() {
    let bench = Bench::new();
    let folder = bench.version("1.0.0", WANTS, "");
    let file = bench.dir.path().join("one.tar");
    let file = file.display().to_string();
    let away = tempfile::tempdir().unwrap();
    let checked = run(away.path(), &["check", &folder.display().to_string()]).ok();
    assert!(
        checked.contains("imports hostd:plugin/devices@1.0.0: an operator must grant it"),
        "{checked}"
    );
    assert!(
        checked.contains("exports hostd:plugin/http@1.0.0"),
        "{checked}"
    );
    run(
        away.path(),
        &["pack", &folder.display().to_string(), "-o", &file],
    )
    .ok();
    bench.plugin(&["install", &file]).ok();
    bench.plugin(&["approve", ID]).ok();
    bench.get("/mark").expect(200);
    let wit = run(away.path(), &["wit"]).ok();
    assert!(
        wit.contains("package hostd:plugin@1.0.0;") && wit.contains("interface devices"),
        "{wit}"
    );
}

#[test]
fn without_a_server_or_a_plugin_the_command_says_what_to_do() {
    let away = tempfile::tempdir().unwrap();
    assert!(
        run(away.path(), &["list"])
            .refused()
            .contains("hostd serve")
    );
    let bench = Bench::new();
    assert!(
        bench
            .plugin(&["approve", "no.such"])
            .refused()
            .contains("there is none")
    );
    bench.install("1.0.0");
    assert!(
        bench
            .plugin(&["approve", ID, "--org", "nobody"])
            .refused()
            .contains("hostd org list")
    );
    assert!(
        bench
            .plugin(&["approve", ID, "--device", "nothing"])
            .refused()
            .contains("nothing")
    );
    assert!(
        bench
            .plugin(&["approve", ID, "--scope", "all"])
            .refused()
            .contains("bench:control")
    );
    assert!(
        bench
            .plugin(&["configure", ID, "--set", "greeting=1"])
            .refused()
            .contains("greeting")
    );
}

#[test]
fn the_log_of_a_plugin_outlives_its_versions() {
    let bench = Bench::new();
    bench.install("1.0.0");
    bench
        .call(&json!({"function": "log.write", "message": "first \u{1b}[31mred"}))
        .expect(200);
    bench.install("2.0.0");
    bench
        .call(&json!({"function": "log.write", "message": "second"}))
        .expect(200);
    let log = bench.plugin(&["logs", ID]).ok();
    let at = |text: &str| log.find(text).unwrap_or_else(|| panic!("{text}: {log}"));
    assert!(at("version 1.0.0 serves") < at("first") && at("first") < at("version 2.0.0 serves"));
    assert!(at("version 2.0.0 serves") < at("second") && !log.contains('\u{1b}'));
}
