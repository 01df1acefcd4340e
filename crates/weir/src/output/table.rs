//! Tables for people: as wide as they need to be, and never wider than the terminal.

use net::text::visible;
use std::borrow::Cow;

/// The alignment of a column's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its head, with the unit.
    pub head: Cow<'static, str>,
    /// Where its texts stand.
    pub align: Align,
    /// Columns of a higher rank go first when there is no room for all; those of rank 0 never go.
    pub rank: u8,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// The gap between two columns.
const GAP: &str = "  ";

impl Table {
    /// A table without rows.
    pub fn new(columns: Vec<Column>) -> Table {
        Table { columns, rows: Vec::new() }
    }

    /// Adds a row, a text for each column. Text of peers may be in it: control characters are
    /// escaped.
    pub fn row(&mut self, texts: Vec<String>) {
        debug_assert_eq!(texts.len(), self.columns.len());
        self.rows.push(texts.into_iter().map(|text| visible(&text)).collect());
    }

    /// Takes the rows behind the first `most` away, and says how many they were.
    pub fn cut(&mut self, most: usize) -> usize {
        let more = self.rows.len().saturating_sub(most);
        self.rows.truncate(most);
        more
    }

    /// The lines, without those columns that do not fit into `width`. A line that is too wide even
    /// then ends with `…`.
    pub fn lines(&self, width: Option<usize>) -> Vec<String> {
        let room = width.unwrap_or(usize::MAX);
        let widths: Vec<usize> = (0..self.columns.len()).map(|at| self.width(at)).collect();
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        let needed = |shown: &[usize]| {
            shown.iter().map(|at| widths[*at] + GAP.len()).sum::<usize>().saturating_sub(GAP.len())
        };
        while needed(&shown) > room {
            let rank = |at: &usize| self.columns[*at].rank;
            let Some(highest) = shown.iter().map(rank).max().filter(|rank| *rank > 0) else {
                break;
            };
            shown.retain(|at| rank(at) < highest);
        }
        let heads = self.columns.iter().map(|column| column.head.clone().into_owned()).collect();
        std::iter::once(&heads)
            .chain(&self.rows)
            .map(|texts: &Vec<String>| {
                let cells = shown.iter().map(|at| self.cell(*at, &texts[*at], widths[*at]));
                let line = cells.collect::<Vec<_>>().join(GAP);
                shortened(line.trim_end(), room)
            })
            .collect()
    }

    fn width(&self, at: usize) -> usize {
        let texts = self.rows.iter().map(|row| row[at].as_str());
        texts.chain([&*self.columns[at].head]).map(|text| text.chars().count()).max().unwrap_or(0)
    }

    fn cell(&self, at: usize, text: &str, width: usize) -> String {
        match self.columns[at].align {
            Align::Left => format!("{text:<width$}"),
            Align::Right => format!("{text:>width$}"),
        }
    }
}

fn shortened(line: &str, room: usize) -> String {
    if line.chars().count() <= room {
        return line.to_owned();
    }
    line.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let column = |head: &'static str, align, rank| Column { head: head.into(), align, rank };
        let mut table = Table::new(vec![
            column("face", Align::Right, 0),
            column("packets", Align::Right, 1),
            column("where", Align::Left, 0),
        ]);
        table.row(vec!["1".into(), "12345678".into(), "udp4://a".into()]);
        table.row(vec!["20".into(), "9".into(), "b".into()]);
        table
    }

    #[test]
    fn numbers_stand_under_each_other() {
        let wanted = ["face   packets  where", "   1  12345678  udp4://a", "  20         9  b"];
        assert_eq!(table().lines(None), wanted);
        assert_eq!(table().lines(Some(24)), wanted, "it fits exactly");
    }

    #[test]
    fn what_matters_least_goes_first_and_no_line_is_wider_than_the_terminal() {
        assert_eq!(table().lines(Some(23)), ["face  where", "   1  udp4://a", "  20  b"]);
        assert_eq!(table().lines(Some(10)), ["face  whe…", "   1  udp…", "  20  b"]);
    }
}
