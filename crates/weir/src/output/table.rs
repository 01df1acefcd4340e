//! Tables for people: as wide as they need to be, and never wider than the terminal.

use super::terminal::folded;
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
    /// The alignment of its texts.
    pub align: Align,
    /// In a narrow terminal, columns of a higher rank are omitted first; those of rank 0 stay.
    pub rank: u8,
}

impl Column {
    /// A column of words.
    pub fn left(head: impl Into<Cow<'static, str>>, rank: u8) -> Column {
        Column { head: head.into(), align: Align::Left, rank }
    }

    /// A column of numbers.
    pub fn right(head: impl Into<Cow<'static, str>>, rank: u8) -> Column {
        Column { head: head.into(), align: Align::Right, rank }
    }
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// The gap between two columns.
const GAP: &str = "  ";
/// The text of a column is not divided into shorter lines.
const LEAST_TEXT: usize = 24;

/// The width of a line with these columns.
fn needed(widths: &[usize], shown: &[usize]) -> usize {
    let all: usize = shown.iter().map(|at| widths[*at] + GAP.len()).sum();
    all.saturating_sub(GAP.len())
}

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

    /// Removes the rows behind the first `most`, and returns their number.
    pub fn cut(&mut self, most: usize) -> usize {
        let more = self.rows.len().saturating_sub(most);
        self.rows.truncate(most);
        more
    }

    /// The lines, without those columns that do not fit into `width`. If the others do not fit
    /// either, the text of the last column is divided, or else each row is written as a list.
    pub fn lines(&self, width: Option<usize>) -> Vec<String> {
        let room = width.unwrap_or(usize::MAX);
        let mut widths: Vec<usize> = (0..self.columns.len()).map(|at| self.width(at)).collect();
        let mut shown: Vec<usize> = (0..self.columns.len()).collect();
        while needed(&widths, &shown) > room {
            let highest = shown.iter().map(|at| self.columns[*at].rank).max().unwrap_or(0);
            if highest == 0 {
                break;
            }
            shown.retain(|at| self.columns[*at].rank < highest);
        }
        let excess = needed(&widths, &shown).saturating_sub(room);
        if excess > 0 {
            let last = shown.last().copied().unwrap_or(0);
            let left = widths[last].saturating_sub(excess);
            if self.columns[last].align == Align::Right || left < LEAST_TEXT {
                return self.lists(&shown, room);
            }
            widths[last] = left;
        }
        let heads = self.columns.iter().map(|column| column.head.clone().into_owned()).collect();
        let rows = std::iter::once(&heads).chain(&self.rows);
        rows.flat_map(|texts: &Vec<String>| self.row_lines(texts, &shown, &widths)).collect()
    }

    /// A row; more than one line if the text of its last column is divided.
    fn row_lines(&self, texts: &[String], shown: &[usize], widths: &[usize]) -> Vec<String> {
        let Some((last, before)) = shown.split_last() else { return Vec::new() };
        let parts = folded(&texts[*last], widths[*last]);
        let mut lines = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            let mut cells = Vec::with_capacity(shown.len());
            for at in before {
                let text = if number == 0 { texts[*at].as_str() } else { "" };
                cells.push(self.cell(*at, text, widths[*at]));
            }
            cells.push(self.cell(*last, part, widths[*last]));
            lines.push(cells.join(GAP).trim_end().to_owned());
        }
        lines
    }

    /// Each row as a list of its texts, with the heads of their columns.
    fn lists(&self, shown: &[usize], room: usize) -> Vec<String> {
        let Some((first, rest)) = shown.split_first() else { return Vec::new() };
        let widest = rest.iter().map(|at| self.columns[*at].head.chars().count()).max();
        let widest = widest.unwrap_or(0);
        let mut lines = Vec::new();
        for texts in &self.rows {
            let bare = texts[*first].trim_start();
            let indent = format!("{}{GAP}", &texts[*first][..texts[*first].len() - bare.len()]);
            lines.extend(folded(&self.headed(*first, &texts[*first]), room));
            for at in rest.iter().filter(|at| !texts[**at].is_empty()) {
                // A mark without a head belongs to the value before it.
                if self.columns[*at].head.is_empty()
                    && let Some(line) = lines.last_mut()
                    && line.chars().count() + GAP.len() + texts[*at].chars().count() <= room
                {
                    line.push_str(GAP);
                    line.push_str(&texts[*at]);
                    continue;
                }
                let head = format!("{indent}{:<widest$}{GAP}", self.columns[*at].head);
                let wide = head.chars().count();
                let left = room.saturating_sub(wide);
                if left < LEAST_TEXT / 2 && left < texts[*at].chars().count() {
                    let text = self.headed(*at, &texts[*at]);
                    lines.extend(folded(&format!("{indent}{text}"), room));
                    continue;
                }
                let mut before = head;
                for part in folded(&texts[*at], left) {
                    lines.push(before + &part);
                    before = " ".repeat(wide);
                }
            }
        }
        lines
    }

    /// A text behind the head of its column.
    fn headed(&self, at: usize, text: &str) -> String {
        match &*self.columns[at].head {
            "" => text.to_owned(),
            head => format!("{head} {text}"),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(vec![
            Column::right("face", 0),
            Column::right("packets", 1),
            Column::left("where", 0),
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
    fn where_no_table_fits_rows_are_lists() {
        let wanted = ["face 1", "  where", "  udp4://a", "face 20", "  where  b"];
        assert_eq!(table().lines(Some(12)), wanted);
    }

    #[test]
    fn a_mark_without_a_head_is_behind_its_value() {
        let mut table = Table::new(["goodput", "%", ""].map(|head| Column::left(head, 0)).to_vec());
        table.row(vec!["16.0".into(), "+5.88".into(), "*".into()]);
        assert_eq!(table.lines(Some(14)), ["goodput 16.0", "  %  +5.88  *"]);
    }

    #[test]
    fn long_texts_of_lists_stay_in_their_column() {
        let mut table = Table::new(
            ["scheme", "parts", "what it does"].map(|head| Column::left(head, 0)).to_vec(),
        );
        table.row(vec!["bbr".into(), "controller".into(), "a model of rate and delay".into()]);
        let wanted = [
            "scheme bbr",
            "  parts         controller",
            "  what it does  a model of",
            "                rate and delay",
        ];
        assert_eq!(table.lines(Some(30)), wanted);
    }

    #[test]
    fn a_long_text_in_the_last_column_is_divided() {
        let mut table =
            Table::new(["scheme", "what it does"].map(|head| Column::left(head, 0)).to_vec());
        table.row(vec!["bbr".into(), "a model of the path from rate and delay".into()]);
        let wanted =
            ["scheme  what it does", "bbr     a model of the path from", "        rate and delay"];
        assert_eq!(table.lines(Some(33)), wanted);
    }

    #[test]
    fn the_least_important_columns_are_dropped_first() {
        assert_eq!(table().lines(Some(23)), ["face  where", "   1  udp4://a", "  20  b"]);
    }
}
