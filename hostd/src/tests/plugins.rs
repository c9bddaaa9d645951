//! Packages that come over HTTP, whose senders leave before they are installed: bounded, and not forgotten.

use hostd::plugin::command::{Command, Told};
use hostd::plugin::refused::Refused;
use hostd::plugin::{OrderError, Plugins, Unheard};

use super::stage::Stage;

async fn refused(plugins: &std::sync::Arc<Plugins>) -> Vec<Refused> {
    match plugins.carry_out(Command::List).await.unwrap() {
        Told::Plugins(_, refused) => refused,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_heard_of_is_listed() {
    let stage = Stage::new().await;
    let plugins = &stage.gateway.plugins;
    let no = || OrderError::Refused("it is no tar".to_owned());
    Unheard::new(plugins, "r1", &no()).heard();
    assert_eq!(refused(plugins).await, []);
    drop(Unheard::new(plugins, "r2", &no()));
    let listed = Refused {
        origin: "request r2".to_owned(),
        reason: "it is no tar".to_owned(),
    };
    assert_eq!(refused(plugins).await, [listed]);
}

#[tokio::test(flavor = "multi_thread")]
async fn so_many_packages_are_installed_at_once_and_no_more() {
    let stage = Stage::new().await;
    let plugins = &stage.gateway.plugins;
    let held: Vec<_> = std::iter::from_fn(|| plugins.install_place().ok()).collect();
    assert_eq!(held.len(), 4);
    drop(held);
    assert!(plugins.install_place().is_ok());
}
