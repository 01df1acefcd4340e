//! A drawing as a list of shapes and texts, in CSS pixels, down from the upper left corner.

/// A place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y }
    }

    pub fn plus(self, x: f64, y: f64) -> Point {
        Point::new(self.x + x, self.y + y)
    }
}

/// A step of an outline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    Move(Point),
    Line(Point),
    Curve([Point; 3]),
    Close,
}

/// A line's look.
#[derive(Clone, Debug, PartialEq)]
pub struct Pen {
    /// The name of its colour.
    pub colour: String,
    pub width: f64,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub dash: Vec<f64>,
}

impl Pen {
    pub fn solid(colour: &str, width: f64) -> Pen {
        Pen { colour: colour.to_owned(), width, dash: Vec::new() }
    }
}

/// An area's look.
#[derive(Clone, Debug, PartialEq)]
pub struct Fill {
    /// The name of its colour.
    pub colour: String,
    pub opacity: f64,
}

impl Fill {
    pub fn new(colour: &str, opacity: f64) -> Fill {
        Fill { colour: colour.to_owned(), opacity }
    }
}

/// The part of a text that is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A text.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Its place on the base line.
    pub at: Point,
    pub text: String,
    pub anchor: Anchor,
    pub size: f64,
    /// The name of its colour.
    pub colour: &'static str,
}

/// A shape or a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Area(Vec<Step>, Fill),
    Line(Vec<Step>, Pen),
    Text(Text),
}

/// A drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    pub title: String,
    pub width: f64,
    pub height: f64,
    pub items: Vec<Item>,
}

/// A line through these points.
pub fn through(points: impl IntoIterator<Item = Point>) -> Vec<Step> {
    let steps = points.into_iter().enumerate();
    steps.map(|(i, point)| if i == 0 { Step::Move(point) } else { Step::Line(point) }).collect()
}

/// The area within these points.
pub fn within(points: impl IntoIterator<Item = Point>) -> Vec<Step> {
    let mut steps = through(points);
    steps.push(Step::Close);
    steps
}

/// The distance of a Bezier curve's handles for a quarter of a circle.
const HANDLE: f64 = 0.552_285;

/// A circle.
pub fn circle(at: Point, radius: f64) -> Vec<Step> {
    let (r, h) = (radius, radius * HANDLE);
    let quarters = [
        [[r, h], [h, r], [0.0, r]],
        [[-h, r], [-r, h], [-r, 0.0]],
        [[-r, -h], [-h, -r], [0.0, -r]],
        [[h, -r], [r, -h], [r, 0.0]],
    ];
    let mut steps = vec![Step::Move(at.plus(r, 0.0))];
    for quarter in quarters {
        steps.push(Step::Curve(quarter.map(|[x, y]| at.plus(x, y))));
    }
    steps.push(Step::Close);
    steps
}

/// The marks of points, which distinguish lines without colours, as their corners for a size of 1;
/// a mark without corners is a circle.
pub const MARKS: [&[[f64; 2]]; 8] = [
    &[],
    &[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
    &[[0.0, -1.3], [1.3, 0.0], [0.0, 1.3], [-1.3, 0.0]],
    &[[0.0, -1.2], [1.2, 0.9], [-1.2, 0.9]],
    &[[0.0, 1.2], [1.2, -0.9], [-1.2, -0.9]],
    &[
        [-0.4, -1.2],
        [0.4, -1.2],
        [0.4, -0.4],
        [1.2, -0.4],
        [1.2, 0.4],
        [0.4, 0.4],
        [0.4, 1.2],
        [-0.4, 1.2],
        [-0.4, 0.4],
        [-1.2, 0.4],
        [-1.2, -0.4],
        [-0.4, -0.4],
    ],
    &[[-1.2, 0.0], [0.9, -1.2], [0.9, 1.2]],
    &[[1.2, 0.0], [-0.9, -1.2], [-0.9, 1.2]],
];

/// The mark of a point of the nth line.
pub fn mark(number: usize, at: Point, size: f64) -> Vec<Step> {
    match MARKS[number % MARKS.len()] {
        [] => circle(at, size),
        corners => within(corners.iter().map(|[x, y]| at.plus(x * size, y * size))),
    }
}
