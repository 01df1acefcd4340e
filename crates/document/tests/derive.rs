//! One struct gives the reader of a section, with all mistakes and their places, and its manual.

use control::{Duration, Rate};
use document::{DeValue, Described, Document, Fields, Read, Section, Words, manual, text};

/// A pump. The second sentence counts, too.
///
/// This paragraph is for readers of the code alone.
#[derive(Debug, PartialEq, Fields, Read)]
#[section(name = "pump", repeated, check = Pump::checked)]
struct Pump {
    /// Its name.
    name: String,
    /// How many strokes it does.
    #[field(default = Pump::STROKES, range = 1..=5_000)]
    strokes: u32,
    /// How fast, in lines that are
    /// long.
    #[field(default = "1 Mbit/s")]
    rate: Rate,
    /// The direction.
    #[field(name = "way", default = "there-and-back")]
    direction: Direction,
    /// How deep.
    #[field(range = -5..)]
    depth: Option<i64>,
    #[field(flatten)]
    valve: Valve,
    #[field(skip)]
    is_checked: bool,
}

/// A part of pumps.
#[derive(Debug, PartialEq, Fields, Read)]
struct Valve {
    /// When it opens.
    #[field(required)]
    opens: Option<Duration>,
    /// Words of its own.
    #[field(default = ["a", "b"], form = "words", with = words)]
    words: Vec<String>,
    /// It may leak.
    #[field(default)]
    leaks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Words)]
enum Direction {
    There,
    ThereAndBack,
}

impl Pump {
    const STROKES: u32 = 1_000;

    fn checked(mut self, section: &Section<'_>) -> Option<Pump> {
        if self.strokes > 2_000 && section.given("rate").is_none() {
            section.mistake("strokes", "so many need a `rate`");
        }
        self.is_checked = true;
        Some(self)
    }
}

fn words(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    document::listed(value, |word| Ok(word.to_owned()))
}

/// The sections read from a text, and its mistakes.
fn read(input: &str) -> (Vec<Option<Pump>>, Vec<String>) {
    let doc = Document::new("a.toml", input);
    let pumps = doc.table(&[Pump::SECTION]).map_or(Vec::new(), |table| {
        Section::all_of::<Pump>(&doc, &table).iter().map(Pump::read).collect()
    });
    let shown = |m: &document::Mistake| format!("{}:{}: {}", m.line, m.column, m.message);
    (pumps, doc.finish().iter().map(shown).collect())
}

#[test]
fn omitted_fields_have_defaults() {
    let (pumps, mistakes) = read("[[pump]]\nname = \"p\"\nopens = \"3 ms\"\n");
    let valve = Valve {
        opens: Some(Duration::from_millis(3)),
        words: vec!["a".to_owned(), "b".to_owned()],
        leaks: false,
    };
    let expected = Pump {
        name: "p".to_owned(),
        strokes: 1_000,
        rate: Rate::from_mbps(1),
        direction: Direction::ThereAndBack,
        depth: None,
        valve,
        is_checked: true,
    };
    assert_eq!(mistakes, [""; 0]);
    assert_eq!(pumps, [Some(expected)]);
}

#[test]
fn every_mistake_has_its_place() {
    let (pumps, mistakes) = read(
        "[[pump]]\nstrokes = 9_999\nrate = 7\nway = \"thre\"\ndepth = -6\nwords = 1\nleak = true\n",
    );
    assert_eq!(pumps, [None], "what is required is not there");
    let expected = [
        "1:1: `pump` needs a field `name`",
        "1:1: `pump` needs a field `opens`",
        "2:11: `strokes`: it is a whole number from 1 to 5000, not the number 9999",
        "3:8: `rate`: it is a text in quotes, not the number 7; `7` is not a rate: the unit is \
         missing; write it like \"40 Mbit/s\", \"1.5 Gbit/s\"",
        "4:7: `way`: `thre` is not known; did you mean `there`? Valid are `there`, \
         `there-and-back`",
        "5:9: `depth`: it is a whole number from -5 to 9223372036854775807, not the number -6",
        "6:9: `words`: it is a text in quotes, not the number 1",
        "7:1: `pump` has no field `leak`; did you mean `leaks`? Valid are `name`, `strokes`, \
         `rate`, `way`, `depth`, `opens`, `words`, `leaks`",
    ];
    assert_eq!(mistakes, expected);
}

#[test]
fn the_check_sees_what_was_given() {
    let (pumps, mistakes) = read("[[pump]]\nname = \"p\"\nopens = \"1 s\"\nstrokes = 3_000\n");
    assert!(pumps[0].as_ref().is_some_and(|pump| pump.is_checked));
    assert_eq!(mistakes, ["4:11: `strokes`: so many need a `rate`"]);
}

#[test]
fn the_manual_is_the_documentation() {
    let mut page = String::new();
    manual::write_section(&mut page, Pump::SECTION);
    let expected = "
## `[[pump]]`, any number of them

A pump. The second sentence counts, too.

| field | form | default | meaning |
|---|---|---|---|
| `name` | text | *required* | Its name. |
| `strokes` | number, 1 to 5000 | `1000` | How many strokes it does. |
| `rate` | rate | `\"1 Mbit/s\"` | How fast, in lines that are long. |
| `way` | `\"there\"`, `\"there-and-back\"` | `\"there-and-back\"` | The direction. |
| `depth` | number from -5 | none | How deep. |
| `opens` | time | *required* | When it opens. |
| `words` | words | `[\"a\", \"b\"]` | Words of its own. |
| `leaks` | `true` or `false` | none | It may leak. |
";
    assert_eq!(page, expected);
}

#[test]
fn a_word_is_read_as_its_variant() {
    let value = DeValue::String("there".into());
    assert_eq!(document::word(&value), Ok(Direction::There));
    assert_eq!(text(&value), Ok("there"));
}
