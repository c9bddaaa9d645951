//! What a Gerber or drill file is for, by its name: extensions of Protel, Altium and Eagle, and words of KiCad and others.
//! Only files without attributes are asked so.

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    Top,
    /// Counted from 1, below the top.
    Inner(usize),
    /// As `Inner`; what is drawn is taken away.
    Plane(usize),
    Bottom,
    Profile,
}

/// What a name without folders says about a Gerber file.
pub(super) fn guess(name: &str) -> Option<Guess> {
    let name = name.to_ascii_lowercase();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
    let number = |prefix: &str| {
        let digits = extension.strip_prefix(prefix)?;
        digits.parse::<usize>().ok().filter(|n| (1..64).contains(n))
    };
    match extension {
        "gtl" | "cmp" | "top" => return Some(Guess::Top),
        "gbl" | "sol" | "bot" => return Some(Guess::Bottom),
        "gko" | "gm1" | "gml" | "oln" | "out" | "mil" | "dim" | "bor" => {
            return Some(Guess::Profile);
        }
        _ => {}
    }
    if let Some(number) = number("gp") {
        return Some(Guess::Plane(number));
    }
    // `.gl2` and `.ly2` count the top as 1; so does `.g2l`.
    let from_top = number("gl").or_else(|| number("ly")).or_else(|| {
        let digits = extension.strip_prefix('g')?.strip_suffix('l')?;
        digits.parse().ok().filter(|n| (1..64).contains(n))
    });
    if let Some(number) = from_top {
        return number.checked_sub(1).filter(|n| *n > 0).map(Guess::Inner);
    }
    if let Some(number) = number("g") {
        return Some(Guess::Inner(number));
    }
    of_words(stem)
}

fn of_words(stem: &str) -> Option<Guess> {
    let words: Vec<&str> = stem.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let has = |word: &str| words.contains(&word);
    let follows = |first: &str, second: &str| words.windows(2).any(|pair| pair == [first, second]);
    if has("mask")
        || has("paste")
        || has("silk")
        || has("silks")
        || has("silkscreen")
        || has("soldermask")
    {
        return None;
    }
    if follows("edge", "cuts") || has("profile") || has("outline") || has("boardoutline") {
        return Some(Guess::Profile);
    }
    let is_copper = has("cu") || has("copper");
    if !is_copper {
        return None;
    }
    let inner = words.iter().find_map(|word| {
        let digits = word
            .strip_prefix("inner")
            .or_else(|| word.strip_prefix("in"))?;
        digits.parse::<usize>().ok().filter(|n| (1..64).contains(n))
    });
    if follows("f", "cu") || has("top") {
        return Some(Guess::Top);
    }
    if follows("b", "cu") || has("bottom") || has("bot") {
        return Some(Guess::Bottom);
    }
    inner.map(Guess::Inner)
}

/// What a name says about whether there is copper in the holes of a drill file.
pub(super) fn is_plated(name: &str) -> Option<bool> {
    let name = name.to_ascii_lowercase();
    if name.contains("npth")
        || name.contains("nonplated")
        || name.contains("non-plated")
        || name.contains("non_plated")
    {
        return Some(false);
    }
    (name.contains("pth") || name.contains("plated")).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_common_programs_are_known() {
        for (name, expected) in [
            ("board-F_Cu.gbr", Some(Guess::Top)),
            ("board-F.Cu.gbr", Some(Guess::Top)),
            ("board-In2_Cu.gbr", Some(Guess::Inner(2))),
            ("board-B_Cu.pho", Some(Guess::Bottom)),
            ("board-Edge_Cuts.gbr", Some(Guess::Profile)),
            ("board-F_Mask.gbr", None),
            ("BOARD.GTL", Some(Guess::Top)),
            ("board.g1", Some(Guess::Inner(1))),
            ("board.GP2", Some(Guess::Plane(2))),
            ("board.gl2", Some(Guess::Inner(1))),
            ("board.g3l", Some(Guess::Inner(2))),
            ("board.gtp", None),
            ("board.gko", Some(Guess::Profile)),
            ("board.cmp", Some(Guess::Top)),
            ("board.sol", Some(Guess::Bottom)),
            ("board.ly2", Some(Guess::Inner(1))),
            ("copper_top.gbr", Some(Guess::Top)),
            ("copper_inner1.gbr", Some(Guess::Inner(1))),
            ("profile.gbr", Some(Guess::Profile)),
            ("readme", None),
        ] {
            assert_eq!(guess(name), expected, "{name}");
        }
        assert_eq!(is_plated("x-NPTH.drl"), Some(false));
        assert_eq!(is_plated("x-PTH.drl"), Some(true));
        assert_eq!(is_plated("x.drl"), None);
    }
}
