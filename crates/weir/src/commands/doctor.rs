//! `weir doctor`

use crate::cli::DoctorArgs;
use crate::doctor::{self, Check, Verdict};
use crate::exit::{Failure, Kind};
use crate::output::{self, Column, Table};
use net::text::visible;

/// Examines the host and prints the results. Only a wrong value is a failure.
pub fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let checks = doctor::examine(args.forwarder.socket.as_deref())?;
    if args.json {
        output::json(&checks)?;
    } else {
        print(&checks)?;
    }
    match count(&checks, Verdict::Wrong) {
        0 => Ok(()),
        _ => Err(Failure::silent(Kind::Failed, "a result is wrong")),
    }
}

fn count(checks: &[Check], verdict: Verdict) -> usize {
    checks.iter().filter(|check| check.result == verdict).count()
}

fn print(checks: &[Check]) -> Result<(), Failure> {
    output::wrapped(&summary(checks))?;
    output::result("")?;
    let width = output::width(std::io::stdout());
    table(checks).lines(width).iter().try_for_each(|line| output::result(line))?;
    for check in checks.iter().filter(|check| check.change.is_some()) {
        output::result("")?;
        details(check).iter().try_for_each(|line| output::wrapped(line))?;
    }
    Ok(())
}

fn summary(checks: &[Check]) -> String {
    let all = [Verdict::Wrong, Verdict::Advice, Verdict::Good, Verdict::Unchecked];
    all.map(|verdict| format!("{} {}", count(checks, verdict), verdict.word())).join(", ")
}

fn table(checks: &[Check]) -> Table {
    let mut table =
        Table::new(["check", "result", "found"].map(|head| Column::left(head, 0)).to_vec());
    for check in checks {
        let found = match &check.subject {
            Some(subject) => format!("{subject}: {}", check.found),
            None => check.found.clone(),
        };
        table.row(vec![check.check.to_owned(), check.result.word().to_owned(), found]);
    }
    table
}

/// A check that leaves something to do.
fn details(check: &Check) -> Vec<String> {
    let subject = check.subject.as_ref().map(|subject| format!(" {}", visible(subject)));
    let mut lines = vec![
        format!("{}: {}{}", check.result.word(), check.check, subject.unwrap_or_default()),
        format!("  found: {}", visible(&check.found)),
        format!("  wanted: {}", visible(&check.wanted)),
    ];
    lines.extend(check.change.as_ref().map(|change| format!("  change: {}", visible(change))));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> [Check; 3] {
        [
            Check::good("mtu", "1500 bytes", "at least 1280 bytes").of("eth0"),
            Check::good("open-files", 1024, "at least 1856").but(Verdict::Advice, "ulimit -n 1856"),
            Check::unchecked("receive-buffer", "no such file", "at least 8.00 MB"),
        ]
    }

    #[test]
    fn results_are_counted_and_the_worst_come_first() {
        assert_eq!(summary(&checks()), "0 wrong, 1 advice, 1 good, 1 not checked");
    }

    #[test]
    fn each_check_has_a_row() {
        let wanted = [
            "check           result       found",
            "mtu             good         eth0: 1500 bytes",
            "open-files      advice       1024",
            "receive-buffer  not checked  no such file",
        ];
        assert_eq!(table(&checks()).lines(None), wanted);
        assert!(table(&checks()).lines(Some(40)).iter().all(|line| line.chars().count() <= 40));
    }

    #[test]
    fn advice_shows_the_found_and_wanted_values() {
        let wanted = [
            "advice: open-files",
            "  found: 1024",
            "  wanted: at least 1856",
            "  change: ulimit -n 1856",
        ];
        assert_eq!(details(&checks()[1]), wanted);
    }
}
