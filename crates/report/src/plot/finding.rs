//! The title of a sweep: which line has most and least, or the course of a single line.

use crate::words::{capital, digits, listed, with_unit};
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
    /// Values of the field where flows did not finish, and how many of how many did.
    pub open: Vec<(String, [u64; 2])>,
    /// How many flows finished, and how many began.
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
    // Those that cannot be told apart are named together.
    let equal = |value: f64| {
        let equal = all.iter().filter(move |(other, _)| digits(*other) == digits(value));
        equal.map(|(_, course)| *course).collect::<Vec<_>>()
    };
    let named = |value: f64| {
        let equal = equal(value);
        let mut names: Vec<String> =
            equal.iter().take(MOST_NAMED).map(|course| course.name.clone()).collect();
        if equal.len() > MOST_NAMED {
            names.push(format!("{} more", equal.len() - MOST_NAMED));
        }
        listed(&names)
    };
    let with = |value: f64| {
        let is_bound = equal(value).iter().any(|course| !course.open.is_empty());
        let at_least = if is_bound { "at least " } else { "" };
        format!("{at_least}{}", with_unit(value, measure.unit))
    };
    match &*all {
        [(most, _), .., (least, _)] if digits(*most) == digits(*least) => {
            format!("{name}: {} on average with all", with(*most))
        }
        [(most, _), .., (least, _)] => format!(
            "{name}: most with {}, {} on average, least with {}, {}",
            named(*most),
            with(*most),
            named(*least),
            with(*least)
        ),
        _ => name,
    }
}

/// The rise or fall of a single line, or both.
fn course_of_one(measure: &Measure, course: &Course) -> String {
    let (Some(first), Some(last)) = (course.points.first(), course.points.last()) else {
        return "no value".to_owned();
    };
    let with = |value: f64| with_unit(value, measure.unit);
    let steps = || course.points.windows(2).map(|two| two[1].1.total_cmp(&two[0].1));
    let is_flat = course.points.iter().all(|(_, y)| digits(*y) == digits(first.1));
    if is_flat {
        return format!("{} everywhere", with(first.1));
    }
    if steps().all(|step| step.is_ge()) {
        return format!("rising from {} to {}", digits(first.1), with(last.1));
    }
    if steps().all(|step| step.is_le()) {
        return format!("falling from {} to {}", digits(first.1), with(last.1));
    }
    let by = |a: &&(String, f64), b: &&(String, f64)| a.1.total_cmp(&b.1);
    let (least, most) = (course.points.iter().min_by(by), course.points.iter().max_by(by));
    let at = |what: &str, (x, y): &(String, f64)| format!("{what}, {}, at {x}", with(*y));
    let ends = [least.map(|one| at("least", one)), most.map(|one| at("most", one))];
    let ends: Vec<String> = ends.into_iter().flatten().collect();
    format!("rising and falling; {}", ends.join(", "))
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
    fn lines_that_cannot_be_told_apart_are_named_as_far_as_there_is_room() {
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
