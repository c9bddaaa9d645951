//! Writes a board in another way: elsewhere, turned, mirrored, in another order, in the syntax of another version. It reads
//! files with a few lines of its own, so that it does not share mistakes with what is tested.

use std::collections::BTreeMap;

/// What is done to a board.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// Written again.
    Nothing,
    /// By so many millimetres.
    Move(f64, f64),
    QuarterTurn,
    /// Left becomes right; no side is flipped.
    Mirror,
    /// Items in another order, nets with other numbers.
    Shuffle(u64),
    /// Nets have names and no numbers, as in KiCad 10.
    NamedNets,
}

/// A word with its quotes, or a list.
#[derive(Clone)]
enum Node {
    Word(String),
    List(Vec<Node>),
}

/// The board in another way.
pub(super) fn rewritten(text: &str, change: Change) -> String {
    let mut root = parse(text);
    let Node::List(items) = &mut root else {
        panic!("a board is a list")
    };
    match change {
        Change::Nothing => {}
        Change::Move(x, y) => move_all(items, &|(px, py)| (px + x, py + y), 0.0),
        Change::QuarterTurn => move_all(items, &|(x, y)| (y, -x), 90.0),
        Change::Mirror => items.iter_mut().for_each(mirror),
        Change::Shuffle(seed) => shuffle(items, seed),
        Change::NamedNets => name_nets(items),
    }
    let mut written = String::with_capacity(text.len());
    write(&root, &mut written);
    written
}

fn parse(text: &str) -> Node {
    let mut open: Vec<Vec<Node>> = vec![Vec::new()];
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            '(' => open.push(Vec::new()),
            ')' => {
                let list = open.pop().unwrap();
                open.last_mut().unwrap().push(Node::List(list));
            }
            '"' => {
                let mut end = at + 1;
                let mut escaped = false;
                for (index, c) in rest.by_ref() {
                    end = index + 1;
                    if c == '"' && !escaped {
                        break;
                    }
                    escaped = c == '\\' && !escaped;
                }
                let word = text[at..end].to_owned();
                open.last_mut().unwrap().push(Node::Word(word));
            }
            c if c.is_whitespace() => {}
            _ => {
                let mut end = at + c.len_utf8();
                while let Some((index, c)) = rest.peek().copied() {
                    if c.is_whitespace() || c == '(' || c == ')' {
                        break;
                    }
                    end = index + c.len_utf8();
                    rest.next();
                }
                let word = text[at..end].to_owned();
                open.last_mut().unwrap().push(Node::Word(word));
            }
        }
    }
    open.remove(0).remove(0)
}

fn write(node: &Node, out: &mut String) {
    match node {
        Node::Word(word) => out.push_str(word),
        Node::List(items) => {
            out.push('(');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(if matches!(item, Node::List(_)) {
                        '\n'
                    } else {
                        ' '
                    });
                }
                write(item, out);
            }
            out.push(')');
        }
    }
}

fn head(node: &Node) -> &str {
    match node {
        Node::List(items) => match items.first() {
            Some(Node::Word(word)) => word,
            _ => "",
        },
        Node::Word(_) => "",
    }
}

fn number(node: Option<&Node>) -> Option<f64> {
    match node {
        Some(Node::Word(word)) => word.parse().ok(),
        _ => None,
    }
}

/// Ten digits, as many as a file has of any number, and no rests of rounding.
fn word(value: f64) -> Node {
    let text = format!("{value:.7}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    Node::Word(if text == "-0" { "0" } else { text }.to_owned())
}

/// Whether a list of that name is a point.
fn is_point(head: &str) -> bool {
    matches!(
        head,
        "at" | "start" | "end" | "mid" | "center" | "xy" | "offset" | "rect_delta"
    )
}

type Motion<'a> = &'a dyn Fn((f64, f64)) -> (f64, f64);

/// Moves what is in coordinates of the board, and turns it.
fn move_all(items: &mut [Node], motion: Motion<'_>, turn: f64) {
    for item in items {
        match head(item).to_owned().as_str() {
            "module" | "footprint" => {
                let Node::List(parts) = item else { continue };
                for part in parts {
                    match head(part) {
                        "at" => move_point(part, motion, turn),
                        // Zones of a footprint have coordinates of the board.
                        "zone" => move_list(part, motion, turn),
                        // The angle of a pad is the board's, its place the footprint's.
                        "pad" => turn_pad(part, turn),
                        _ => {}
                    }
                }
            }
            "setup" | "general" | "layers" | "title_block" => {}
            _ => move_list(item, motion, turn),
        }
    }
}

fn move_list(node: &mut Node, motion: Motion<'_>, turn: f64) {
    if is_point(head(node)) {
        return move_point(node, motion, turn);
    }
    if let Node::List(items) = node {
        items
            .iter_mut()
            .for_each(|item| move_list(item, motion, turn));
    }
}

fn move_point(node: &mut Node, motion: Motion<'_>, turn: f64) {
    let Node::List(items) = node else { return };
    let (Some(x), Some(y)) = (number(items.get(1)), number(items.get(2))) else {
        return;
    };
    let (x, y) = motion((x, y));
    (items[1], items[2]) = (word(x), word(y));
    if matches!(&items[0], Node::Word(head) if head == "at") && turn != 0.0 {
        set_angle(items, |angle| angle + turn);
    }
}

fn turn_pad(node: &mut Node, turn: f64) {
    let Node::List(items) = node else { return };
    for part in items {
        if head(part) == "at" && turn != 0.0 {
            let Node::List(items) = part else { continue };
            set_angle(items, |angle| angle + turn);
        }
    }
}

fn set_angle(at: &mut Vec<Node>, change: impl Fn(f64) -> f64) {
    let angle = number(at.get(3));
    let changed = word(change(angle.unwrap_or(0.0)));
    if angle.is_some() {
        at[3] = changed;
    } else {
        at.insert(3, changed);
    }
}

fn mirror(node: &mut Node) {
    let name = head(node).to_owned();
    let Node::List(items) = node else { return };
    if is_point(&name) {
        if let Some(x) = number(items.get(1)) {
            items[1] = word(-x);
        }
        if name == "at" && number(items.get(3)).is_some() {
            set_angle(items, |angle| -angle);
        }
    } else if name == "angle" {
        if let Some(angle) = number(items.get(1)) {
            items[1] = word(-angle);
        }
    } else if name != "setup" {
        items.iter_mut().for_each(mirror);
    }
}

/// Shuffles everything after the table of nets, and their numbers.
fn shuffle(items: &mut Vec<Node>, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let count = nets(items).len();
    let mut numbers: Vec<usize> = (1..count).collect();
    random.shuffle(&mut numbers);
    numbers.insert(0, 0);
    items.iter_mut().for_each(|item| renumber(item, &numbers));
    let is_item = |node: &Node| {
        matches!(
            head(node),
            "segment" | "arc" | "via" | "zone" | "module" | "footprint" | "gr_line" | "gr_arc"
        )
    };
    let (mut moved, kept): (Vec<Node>, Vec<Node>) = items.drain(..).partition(is_item);
    random.shuffle(&mut moved);
    items.extend(kept);
    items.extend(moved);
}

fn renumber(node: &mut Node, numbers: &[usize]) {
    let is_net = head(node) == "net";
    let Node::List(items) = node else { return };
    if !is_net {
        items.iter_mut().for_each(|item| renumber(item, numbers));
        return;
    }
    let old = match items.get(1) {
        Some(Node::Word(word)) => word.parse::<usize>().ok(),
        _ => None,
    };
    if let Some(new) = old.and_then(|old| numbers.get(old)) {
        items[1] = Node::Word(new.to_string());
    }
}

/// The table of nets.
fn nets(items: &[Node]) -> BTreeMap<String, String> {
    let mut nets = BTreeMap::new();
    for item in items {
        if let ("net", Node::List(parts)) = (head(item), item)
            && let [_, Node::Word(number), Node::Word(name)] = parts.as_slice()
        {
            nets.insert(number.clone(), name.clone());
        }
    }
    nets
}

fn name_nets(items: &mut Vec<Node>) {
    let nets = nets(items);
    items.retain(|item| head(item) != "net");
    for item in items.iter_mut() {
        if head(item) == "version" {
            *item = Node::List(vec![
                Node::Word("version".to_owned()),
                Node::Word("20260206".to_owned()),
            ]);
        } else {
            name_net(item, &nets);
        }
    }
}

fn name_net(node: &mut Node, nets: &BTreeMap<String, String>) {
    let is_net = head(node) == "net";
    let Node::List(items) = node else { return };
    if !is_net {
        items.retain(|item| head(item) != "net_name");
        items.iter_mut().for_each(|item| name_net(item, nets));
        return;
    }
    let name = match items.get(1) {
        Some(Node::Word(number)) => nets.get(number).cloned(),
        _ => None,
    };
    if let Some(name) = name {
        let quoted = if name.starts_with('"') {
            name
        } else {
            format!("\"{name}\"")
        };
        *items = vec![Node::Word("net".to_owned()), Node::Word(quoted)];
    }
}
