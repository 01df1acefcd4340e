//! A sheet of characters for lines and texts.

/// Where a line goes on from a character.
const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const UP: u8 = 4;
const DOWN: u8 = 8;

/// The characters of lines by where they go on.
const LINES: [char; 16] =
    [' ', '─', '─', '─', '│', '┘', '└', '┴', '│', '┐', '┌', '┬', '│', '┤', '├', '┼'];

/// A sheet.
pub struct Canvas {
    lines: Vec<Vec<u8>>,
    texts: Vec<Vec<Option<char>>>,
}

impl Canvas {
    pub fn new(width: usize, height: usize) -> Canvas {
        Canvas { lines: vec![vec![0; width]; height], texts: vec![vec![None; width]; height] }
    }

    /// A line along a row, from one column to another one, both included.
    pub fn across(&mut self, row: usize, from: usize, to: usize) {
        for at in from..=to {
            self.lines[row][at] |= if at > from { LEFT } else { 0 };
            self.lines[row][at] |= if at < to { RIGHT } else { 0 };
        }
    }

    /// A line along a column.
    pub fn down(&mut self, column: usize, from: usize, to: usize) {
        for row in from.min(to)..=from.max(to) {
            self.lines[row][column] |= if row > from.min(to) { UP } else { 0 };
            self.lines[row][column] |= if row < from.max(to) { DOWN } else { 0 };
        }
    }

    /// Writes a text over the characters there.
    pub fn write(&mut self, row: usize, column: usize, text: &str) {
        for (slot, c) in self.texts[row][column..].iter_mut().zip(text.chars()) {
            *slot = Some(c);
        }
    }

    /// The rows, without what is empty at their ends.
    pub fn rows(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for (lines, texts) in self.lines.iter().zip(&self.texts) {
            let shown = lines.iter().zip(texts).map(|(l, w)| w.unwrap_or(LINES[usize::from(*l)]));
            rows.push(shown.collect::<String>().trim_end().to_owned());
        }
        rows
    }
}
