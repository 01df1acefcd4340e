//! A drawing as PDF of one page, on light ground, with its font inside: papers need it there.

use super::font::{FILE, Font};
use super::scene::{Item, Scene, Step, Text};
use crate::colours;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::collections::BTreeMap;

/// Points for each CSS pixel.
const SCALE: f32 = 0.75;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const FONT: Ref = Ref::new(5);
const LETTERS: Ref = Ref::new(6);
const DESCRIPTOR: Ref = Ref::new(7);
const MAP: Ref = Ref::new(8);
const FONT_FILE: Ref = Ref::new(9);
const INFO: Ref = Ref::new(10);

const FONT_NAME: Name<'static> = Name(b"Roboto-Regular");
const FONT_KEY: Name<'static> = Name(b"F");
const IDENTITY: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The file.
pub fn file(scene: &Scene, font: &Font) -> Vec<u8> {
    let mut pdf = Pdf::new();
    pdf.catalog(CATALOG).pages(PAGES);
    pdf.pages(PAGES).kids([PAGE]).count(1);
    pdf.document_info(INFO).title(TextStr(&scene.title)).creator(TextStr("weir plot"));
    let (width, height) = (scene.width as f32 * SCALE, scene.height as f32 * SCALE);
    let mut page = Page::new(height, font);
    scene.items.iter().for_each(|item| page.item(item));
    let Page { content, opacities, letters, .. } = page;
    let mut written = pdf.page(PAGE);
    written.media_box(Rect::new(0.0, 0.0, width, height)).parent(PAGES).contents(CONTENT);
    let mut resources = written.resources();
    resources.fonts().pair(FONT_KEY, FONT);
    let mut states = resources.ext_g_states();
    for hundredths in opacities {
        let opacity = f32::from(hundredths) / 100.0;
        let mut state = states.insert(Name(state_name(hundredths).as_bytes())).start::<State<'_>>();
        state.non_stroking_alpha(opacity);
    }
    states.finish();
    resources.finish();
    written.finish();
    pdf.stream(CONTENT, &content.finish());
    embed(&mut pdf, font, &letters);
    pdf.finish()
}

type State<'a> = pdf_writer::writers::ExtGraphicsState<'a>;

fn state_name(hundredths: u8) -> String {
    format!("G{hundredths}")
}

/// The page's content.
struct Page<'f> {
    content: Content,
    font: &'f Font,
    /// In hundredths.
    opacities: std::collections::BTreeSet<u8>,
    /// Glyphs that occur.
    letters: BTreeMap<u16, char>,
}

impl<'f> Page<'f> {
    fn new(height: f32, font: &'f Font) -> Page<'f> {
        let mut content = Content::new();
        // From the upper left corner downwards.
        content.transform([SCALE, 0.0, 0.0, -SCALE, 0.0, height]);
        content.set_line_join(pdf_writer::types::LineJoinStyle::RoundJoin);
        Page {
            content,
            font,
            opacities: std::collections::BTreeSet::from([100]),
            letters: BTreeMap::new(),
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Area(steps, fill) => {
                let hundredths = (fill.opacity * 100.0).round().clamp(0.0, 100.0) as u8;
                self.opacities.insert(hundredths);
                self.content.set_parameters(Name(state_name(hundredths).as_bytes()));
                self.colour(&fill.colour);
                self.path(steps);
                self.content.fill_nonzero();
                self.content.set_parameters(Name(state_name(100).as_bytes()));
            }
            Item::Line(steps, pen) => {
                let [red, green, blue] = parts(&pen.colour);
                self.content.set_stroke_rgb(red, green, blue);
                self.content.set_line_width(pen.width as f32);
                self.content.set_dash_pattern(pen.dash.iter().map(|length| *length as f32), 0.0);
                self.path(steps);
                self.content.stroke();
            }
            Item::Text(text) => self.text(text),
        }
    }

    fn colour(&mut self, name: &str) {
        let [red, green, blue] = parts(name);
        self.content.set_fill_rgb(red, green, blue);
    }

    fn path(&mut self, steps: &[Step]) {
        for step in steps {
            match *step {
                Step::Move(to) => self.content.move_to(to.x as f32, to.y as f32),
                Step::Line(to) => self.content.line_to(to.x as f32, to.y as f32),
                Step::Curve(points) => {
                    let [[ax, ay], [bx, by], [x, y]] =
                        points.map(|point| [point.x as f32, point.y as f32]);
                    self.content.cubic_to(ax, ay, bx, by, x, y)
                }
                Step::Close => self.content.close_path(),
            };
        }
    }

    fn text(&mut self, text: &Text) {
        let mut glyphs = Vec::new();
        for letter in text.text.chars() {
            let glyph = self.font.glyph(letter).0;
            self.letters.insert(glyph, letter);
            glyphs.extend(glyph.to_be_bytes());
        }
        self.colour(text.colour);
        self.content.begin_text();
        self.content.set_font(FONT_KEY, text.size as f32);
        let (x, y) = (self.font.start(text), text.at.y);
        self.content.set_text_matrix([1.0, 0.0, 0.0, -1.0, x as f32, y as f32]);
        self.content.show(Str(&glyphs));
        self.content.end_text();
    }
}

fn parts(colour: &str) -> [f32; 3] {
    colours::on_paper(colour).map(|part| f32::from(part) / 255.0)
}

/// Writes the font, and which letters its glyphs are.
fn embed(pdf: &mut Pdf, font: &Font, letters: &BTreeMap<u16, char>) {
    let face = font.face();
    pdf.type0_font(FONT)
        .base_font(FONT_NAME)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(LETTERS)
        .to_unicode(MAP);
    let widths = (0..face.number_of_glyphs())
        .map(|glyph| thousandths(font, font.advance(ttf_parser::GlyphId(glyph))));
    let mut cid = pdf.cid_font(LETTERS);
    cid.subtype(CidFontType::Type2).base_font(FONT_NAME).system_info(IDENTITY);
    cid.font_descriptor(DESCRIPTOR).default_width(0.0);
    cid.cid_to_gid_map_predefined(Name(b"Identity"));
    cid.widths().consecutive(0, widths);
    cid.finish();
    let bounds = face.global_bounding_box();
    let [left, bottom, right, top] = [bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max]
        .map(|edge| thousandths(font, f64::from(edge)));
    let ascent = thousandths(font, f64::from(face.ascender()));
    pdf.font_descriptor(DESCRIPTOR)
        .name(FONT_NAME)
        .flags(FontFlags::SYMBOLIC)
        .bbox(Rect::new(left, bottom, right, top))
        .italic_angle(0.0)
        .ascent(ascent)
        .descent(thousandths(font, f64::from(face.descender())))
        .cap_height(face.capital_height().map_or(ascent, |h| thousandths(font, f64::from(h))))
        .stem_v(80.0)
        .font_file2(FONT_FILE);
    pdf.stream(FONT_FILE, FILE).pair(Name(b"Length1"), i32::try_from(FILE.len()).unwrap_or(0));
    let mut map = UnicodeCmap::new(Name(b"Letters"), IDENTITY);
    letters.iter().for_each(|(glyph, letter)| map.pair(*glyph, *letter));
    pdf.cmap(MAP, &map.finish());
}

/// The font's units in thousandths of its size, as PDF counts.
fn thousandths(font: &Font, units: f64) -> f32 {
    (units * 1000.0 / font.units()) as f32
}
