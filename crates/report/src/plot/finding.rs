//! The title of a sweep: which line has most and least, or the course of a single line.

use crate::text::{capital, digits, listed, with_unit};
use scenario::result::Measure;

/// Lines with equal means that a title names.
const MOST_NAMED: usize = 3;

/// The values of a line, from left to right.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// The line's name, with that of its panel.
    pub name: String,
    /// Values of the field, and of the measure.
    pub points: Vec<(String, f64)>,
    /// Values of the field with unfinished flows, and the numbers of finished flows and of all.
    pub open: Vec<(String, [u64; 2])>,
    /// The numbers of flows that finished, and that began.
    pub flows: [u64; 2],
}

impl Course {
    fn mean(&self) -> f64 {
        self.points.iter().map(|(_, y)| y).sum::<f64>() / self.points.len().max(1) as f64
    }
}

/// The title of lines over a field.
pub fn finding(measure: &Measure, field: &str, courses: &[Course]) -> String {
    let name = format!("{} over {field}", capital(measure.label));
    if let [course] = courses {
        return format!("{name}: {}", course_of_one(measure, course));
    }
    let mut all: Vec<(f64, &Course)> = courses.iter().map(|one| (one.mean(), one)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let [(most, _), .., (least, _)] = &*all else { return name };
    let all_are_equal = digits(*most) == digits(*least);
    let (highest, lowest) = (equal(&all, *most), equal(&all, *least));
    let most = with_bound(*most, &highest, measure);
    let least = with_bound(*least, &lowest, measure);
    if all_are_equal {
        return format!("{name}: {most} on average with all");
    }
    format!(
        "{name}: most with {}, {most} on average, least with {}, {least}",
        named(&highest),
        named(&lowest)
    )
}

/// The courses with this mean in the digits that are shown: these are named together.
fn equal<'a>(all: &[(f64, &'a Course)], mean: f64) -> Vec<&'a Course> {
    all.iter()
        .filter(|(other, _)| digits(*other) == digits(mean))
        .map(|(_, course)| *course)
        .collect()
}

fn named(courses: &[&Course]) -> String {
    let mut names: Vec<String> =
        courses.iter().take(MOST_NAMED).map(|course| course.name.clone()).collect();
    if courses.len() > MOST_NAMED {
        names.push(format!("{} more", courses.len() - MOST_NAMED));
    }
    listed(&names)
}

/// The mean of these courses; unfinished flows make it a lower bound.
fn with_bound(mean: f64, courses: &[&Course], measure: &Measure) -> String {
    let is_bound = courses.iter().any(|course| !course.open.is_empty());
    let at_least = if is_bound { "at least " } else { "" };
    format!("{at_least}{}", with_unit(mean, measure.unit))
}

/// The rise or fall of a single line, or both.
fn course_of_one(measure: &Measure, course: &Course) -> String {
    let (Some(first), Some(last)) = (course.points.first(), course.points.last()) else {
        return "no value".to_owned();
    };
    let unit = measure.unit;
    if course.points.iter().all(|(_, y)| digits(*y) == digits(first.1)) {
        return format!("{} everywhere", with_unit(first.1, unit));
    }
    if course.points.is_sorted_by(|a, b| b.1.total_cmp(&a.1).is_ge()) {
        return format!("rising from {} to {}", digits(first.1), with_unit(last.1, unit));
    }
    if course.points.is_sorted_by(|a, b| b.1.total_cmp(&a.1).is_le()) {
        return format!("falling from {} to {}", digits(first.1), with_unit(last.1, unit));
    }
    let least = course.points.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(first);
    let most = course.points.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(last);
    format!(
        "rising and falling; least, {}, at {}, most, {}, at {}",
        with_unit(least.1, unit),
        least.0,
        with_unit(most.1, unit),
        most.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(values: &[f64]) -> String {
        let points = values.iter().enumerate().map(|(x, y)| (format!("{x} %"), *y));
        let course = Course { points: points.collect(), ..Course::default() };
        finding(Measure::find("drops").unwrap(), "link.loss", &[course])
    }

    #[test]
    fn a_line_rises_only_if_it_never_falls() {
        assert_eq!(
            title(&[137.0, 150.0, 172.0]),
            "Packets lost over link.loss: rising from 137 to 172"
        );
        assert_eq!(
            title(&[9.0, 9.0, 2.0]),
            "Packets lost over link.loss: falling from 9.00 to 2.00"
        );
        assert_eq!(
            title(&[137.0, 90.0, 172.0]),
            "Packets lost over link.loss: rising and falling; least, 90.0, at 1 %, most, 172, at \
             2 %"
        );
        assert_eq!(title(&[5.0, 5.0]), "Packets lost over link.loss: 5.00 everywhere");
    }

    #[test]
    fn lines_with_equal_values_are_named_as_space_permits() {
        let course = |(name, y): (&str, f64)| Course {
            name: name.to_owned(),
            points: vec![("0 %".to_owned(), y)],
            ..Course::default()
        };
        let lines = [("a", 7.0), ("b", 7.0), ("c", 7.0), ("d", 7.0), ("e", 2.0)].map(course);
        let title = finding(Measure::find("drops").unwrap(), "loss", &lines);
        assert!(title.contains("most with a, b, c and 1 more, 7.00 on average"), "{title}");
    }
}
