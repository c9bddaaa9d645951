//! A value over time.

use super::Timeline;

#[test]
fn the_past_stays_and_plans_give_way() {
    let mut line = Timeline::new('a');
    line.set(10, 'b');
    line.set(30, 'c');
    line.set(20, 'd');
    assert_eq!(
        [0, 9, 10, 19, 20, 99].map(|at| *line.at(at)),
        ['a', 'a', 'b', 'b', 'd', 'd']
    );
    assert_eq!(*line.since(15), (10, 'b'));
    line.cancel_after(10);
    assert_eq!(*line.at(99), 'b');
}

#[test]
fn a_window_has_the_value_before_it_and_the_changes_in_it() {
    let mut line = Timeline::new(0);
    for at in 1..10 {
        line.set(at * 10, at);
    }
    assert_eq!(line.window(25, 40), [(25, 2), (30, 3), (40, 4)]);
    assert_eq!(line.window(30, 30), [(30, 3)]);
    assert_eq!(line.window(500, 600), [(500, 9)]);
}

#[test]
fn pruning_keeps_what_is_in_force() {
    let mut line = Timeline::new(0);
    line.set(10, 1);
    line.set(20, 2);
    line.prune(15);
    assert_eq!(*line.at(15), 1);
    line.prune(1_000);
    assert_eq!(*line.at(1_000), 2);
    line.set(5, 7);
    assert_eq!(*line.at(1_000), 7);
}
