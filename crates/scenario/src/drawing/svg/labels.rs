//! Places for the labels of links: where they cover the least.

/// Left, top, right, bottom.
type Area = [f64; 4];
type Line = [[f64; 2]; 2];

/// The width of a letter of a label.
const LETTER: f64 = 6.2;
/// The height of its two lines.
const HEIGHT: f64 = 25.0;
/// Between a label and its link.
const GAP: f64 = 3.0;
/// Places along a link, in the order of preference.
const SHARES: [f64; 5] = [0.5, 0.36, 0.64, 0.25, 0.75];
/// Points of a line that are looked at, which is enough for lines of some hundred units.
const POINTS: u32 = 60;
/// The area that a point of a covered line counts as.
const POINT: f64 = 20.0;

/// Everything that a label must not cover.
#[derive(Default)]
pub struct Labels {
    taken: Vec<Area>,
    lines: Vec<Line>,
}

impl Labels {
    /// A line.
    pub fn line(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// A node or a name.
    pub fn keep_free(&mut self, taken: Area) {
        self.taken.push(taken);
    }

    /// The centre of a label with these two rows beside a line: of all places, the first that
    /// covers the least.
    pub fn place(&mut self, line: Line, thick: f64, rows: [&str; 2]) -> [f64; 2] {
        let letters = rows.map(|row| row.chars().count()).into_iter().max().unwrap_or(0);
        let half = [letters as f64 * LETTER / 2.0, HEIGHT / 2.0];
        let [[x1, y1], [x2, y2]] = line;
        let length = ((x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1)).sqrt().max(1.0);
        // Upwards, or to the right where the line is steep.
        let mut normal = [(y2 - y1) / length, (x1 - x2) / length];
        let is_turned = match normal[1].abs() < normal[0].abs() {
            true => normal[0] < 0.0,
            false => normal[1] > 0.0,
        };
        if is_turned {
            normal = normal.map(|part| -part);
        }
        let away = normal[0].abs() * half[0] + normal[1].abs() * half[1] + thick / 2.0 + GAP;
        let mut best = ([x1, y1], f64::INFINITY);
        for side in [away, -away] {
            for share in SHARES {
                let x = x1 + (x2 - x1) * share + normal[0] * side;
                let y = y1 + (y2 - y1) * share + normal[1] * side;
                let covered = self.covered(around([x, y], half));
                if covered < best.1 {
                    best = ([x, y], covered);
                }
            }
        }
        self.taken.push(around(best.0, half));
        best.0
    }

    /// The area that a box would cover.
    fn covered(&self, [left, top, right, bottom]: Area) -> f64 {
        let mut boxes = 0.0;
        for other in &self.taken {
            let width = right.min(other[2]) - left.max(other[0]);
            boxes += width.max(0.0) * (bottom.min(other[3]) - top.max(other[1])).max(0.0);
        }
        let mut lines = 0.0;
        for [[x1, y1], [x2, y2]] in &self.lines {
            let points = (0..=POINTS).map(|point| f64::from(point) / f64::from(POINTS));
            let places = points.map(|share| [x1 + (x2 - x1) * share, y1 + (y2 - y1) * share]);
            let inside =
                places.filter(|[x, y]| (left..=right).contains(x) && (top..=bottom).contains(y));
            lines += inside.count() as f64 * POINT;
        }
        boxes + lines
    }
}

fn around([x, y]: [f64; 2], half: [f64; 2]) -> Area {
    [x - half[0], y - half[1], x + half[0], y + half[1]]
}
