//! One colour for each scheme, the same in every picture: those of M. Okabe and K. Ito, which
//! colour-blind readers can distinguish, and darker variants. The style sheet of the page has the
//! values, for light and for dark, by these numbers.

use std::sync::LazyLock;

/// The number of the colour of each scheme with its own, from 0 to 15. Schemes that are seldom
/// drawn as a line of their own share lighter tones of the last eight.
const SCHEMES: &str = include_str!("../assets/scheme_colours.txt");

/// The label of consumers in results that no scheme controls, and a scheme that asks at a constant
/// rate as well: both have this colour.
const UNCONTROLLED: [&str; 2] = ["constant-rate", "rate"];
const OF_UNCONTROLLED: usize = 7;

/// Colours of the first kind.
pub const BRIGHT: usize = 8;
/// Their darker kin, for things other than schemes.
pub const KIN: usize = 8;

/// The number of the colour of a scheme, with any parameters.
#[must_use]
pub fn scheme(control: &str) -> usize {
    // A plus sign precedes its parts, a colon its parameters.
    let name = control.split([':', '+']).next().unwrap_or(control).replace('_', "-");
    if UNCONTROLLED.contains(&name.as_str()) {
        return OF_UNCONTROLLED;
    }
    let listed = listed().find(|(listed, _)| *listed == name);
    listed.map_or_else(|| shared(&name), |(_, colour)| colour)
}

/// The colours of [`SCHEMES`].
fn listed() -> impl Iterator<Item = (&'static str, usize)> {
    SCHEMES.lines().filter_map(|line| {
        let (name, colour) = line.split_once(' ')?;
        Some((name, colour.parse().ok()?))
    })
}

/// The colour of a scheme without its own: the same everywhere, shared with other such schemes, but
/// not with a scheme that has its own.
fn shared(name: &str) -> usize {
    let sum = name.bytes().fold(7usize, |sum, byte| sum * 31 % 8191 + usize::from(byte));
    toned(BRIGHT + sum % KIN, 1)
}

/// The number of the colour of the nth of several things other than schemes.
#[must_use]
pub fn thing(number: usize) -> usize {
    BRIGHT + number % KIN
}

/// Tones that a colour has.
pub const TONES: usize = 3;

/// The nth tone of a colour, by its number, for several lines with one scheme.
#[must_use]
pub fn toned(colour: usize, tone: usize) -> usize {
    let (own, before) = (colour % (BRIGHT + KIN), colour / (BRIGHT + KIN));
    own + (before + tone) % TONES * (BRIGHT + KIN)
}

/// A colour's name in style sheets, its value on light and on dark ground.
pub type Named = (String, String, String);

/// All colours: ink and paper, the schemes' and their darker variants, those of use from none to
/// all, and the tones of both.
pub fn all() -> &'static [Named] {
    static PALETTE: LazyLock<Vec<Named>> = LazyLock::new(palette);
    &PALETTE
}

fn known(name: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    ALL.iter().find(|known| known.0 == name)
}

fn palette() -> Vec<Named> {
    let mut all: Vec<Named> = ALL
        .iter()
        .map(|(name, light, dark)| ((*name).to_owned(), (*light).to_owned(), (*dark).to_owned()))
        .collect();
    let (Some(paper), Some(ink)) = (known("paper"), known("ink")) else { return all };
    for tone in 1..TONES {
        for number in 0..BRIGHT + KIN {
            let Some(own) = known(&format!("c{number}")) else { continue };
            let name = format!("c{}", toned(number, tone));
            let light = tone_of(own.1, paper.1, ink.1, tone);
            all.push((name, light, tone_of(own.2, paper.2, ink.2, tone)));
        }
    }
    all
}

/// A colour, such as `#0072b2`, by its name in style sheets.
#[must_use]
pub fn colour(name: &str, is_dark: bool) -> Option<String> {
    let (_, light, dark) = all().iter().find(|known| known.0 == name)?;
    Some(if is_dark { dark.clone() } else { light.clone() })
}

/// Red, green and blue of a colour on light ground, by its name in style sheets.
#[must_use]
pub fn on_paper(name: &str) -> [u8; 3] {
    let value = all().iter().find(|known| known.0 == name).map_or("#000000", |known| &known.1);
    [0, 1, 2].map(|part| channel(value, part) as u8)
}

/// A colour nearer to the paper or the ink: first to the paper if it can still be seen on it then,
/// and next to the other.
fn tone_of(own: &str, paper: &str, ink: &str, tone: usize) -> String {
    let [own_off_paper, ink_off_paper] =
        [own, ink].map(|colour| brightness(colour).abs_diff(brightness(paper)));
    let is_to_paper = (own_off_paper * 55 > ink_off_paper * 40) == (tone == 1);
    let (end, share) = if is_to_paper { (paper, 45) } else { (ink, 50) };
    let [red, green, blue] = [0, 1, 2]
        .map(|part| (channel(own, part) * (100 - share) + channel(end, part) * share) / 100);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn channel(colour: &str, part: usize) -> u32 {
    let digits = colour.get(1 + 2 * part..3 + 2 * part);
    digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

/// As eyes weigh red, green and blue.
fn brightness(colour: &str) -> u32 {
    3 * channel(colour, 0) + 6 * channel(colour, 1) + channel(colour, 2)
}

const ALL: &[(&str, &str, &str)] = &[
    ("paper", "#ffffff", "#14171a"),
    ("ink", "#1b1f23", "#e6e8ea"),
    ("soft", "#5a6370", "#a3adb8"),
    ("grid", "#dde1e6", "#30363d"),
    ("c0", "#0072b2", "#4aa8e0"),
    ("c1", "#d55e00", "#f0803c"),
    ("c2", "#009e73", "#2fc79b"),
    ("c3", "#b8588f", "#e295c0"),
    ("c4", "#e69f00", "#f2b632"),
    ("c5", "#56b4e9", "#8fd0f5"),
    ("c6", "#8a7f00", "#f0e442"),
    ("c7", "#3c4248", "#c9ced4"),
    ("c8", "#00456b", "#9dc9e6"),
    ("c9", "#8a3d00", "#f7b48b"),
    ("c10", "#00604a", "#93dfc8"),
    ("c11", "#71305a", "#f0c6dd"),
    ("c12", "#8f6300", "#f8d890"),
    ("c13", "#2a7ca8", "#bfe5fb"),
    ("c14", "#575000", "#f6f0a0"),
    ("c15", "#6b7480", "#8b949e"),
    ("u0", "#d3d9df", "#39424c"),
    ("u1", "#a9cbe3", "#2f5d83"),
    ("u2", "#74abd3", "#3f82b8"),
    ("u3", "#3d87bd", "#62a8df"),
    ("u4", "#1a5e92", "#9acbf0"),
    ("u5", "#08335a", "#e2f2ff"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_scheme_has_one_colour() {
        assert_eq!(scheme("cubic"), scheme("cubic:beta=0.5"));
        assert_ne!(scheme("cubic"), scheme("aimd"));
        assert_eq!((scheme("cubic"), scheme("constant-rate")), (1, 7), "as listed");
        assert_eq!(scheme("rate"), scheme("constant-rate"), "the same behaviour");
        assert_eq!(scheme("cubic:beta=0.5"), scheme("cubic+any"), "its parts are its own");
    }

    #[test]
    fn no_two_schemes_have_one_colour() {
        let names: BTreeSet<&str> = listed().map(|(name, _)| name).collect();
        let colours: BTreeSet<usize> = listed().map(|(_, colour)| colour).collect();
        let count = SCHEMES.lines().count();
        assert_eq!([names.len(), colours.len()], [count, count], "{SCHEMES}");
        assert!(colours.iter().all(|colour| *colour < BRIGHT + KIN && *colour != OF_UNCONTROLLED));
        for name in &names {
            assert!(schemes::find(name).is_some(), "{name} is not a scheme");
        }
        assert!(names.contains("sluice"));
        for other in schemes::SCHEMES.iter().filter(|one| !names.contains(one.name)) {
            assert!(!colours.contains(&scheme(other.name)), "{} shares a colour", other.name);
        }
    }

    #[test]
    fn every_tone_is_another_colour() {
        let all = all();
        let lights: BTreeSet<&str> = all.iter().map(|named| named.1.as_str()).collect();
        let darks: BTreeSet<&str> = all.iter().map(|named| named.2.as_str()).collect();
        assert_eq!([lights.len(), darks.len()], [all.len(), all.len()]);
        let light = |name: &str| &all.iter().find(|named| named.0 == name).unwrap().1;
        assert_eq!(light(&format!("c{}", toned(0, 1))), "#72b1d4", "blue, nearer to white");
        assert_eq!([toned(3, TONES), toned(toned(3, 1), 2)], [3, 3]);
    }
}
