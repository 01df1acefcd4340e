//! The clock, which decides on the validity of certificates and on the order of versions.

use super::check::{Check, Verdict};
use super::system::System;
use security::human_instant;
use std::time::UNIX_EPOCH;

/// 2026-01-01, before any version of this program.
const EPOCH: u64 = 1_767_225_600;
/// The program's file may be from a host in another time zone.
const FILE_SKEW: u64 = 86_400;
/// Clocks of hosts differ by this many seconds.
const SKEW: u64 = 60;

/// Evidence of a service that sets the clock, by its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    /// systemd-timesyncd, and it has set the clock.
    Synchronised,
    /// systemd-timesyncd, and it has not set the clock.
    Waiting,
    /// Another one, whose state its own tool shows by this command.
    Other(&'static str),
    /// None is visible, as in most containers.
    Hidden,
}

/// Files of other services, and the commands that show their state.
const OTHERS: [(&str, &str); 6] = [
    ("run/chrony/chronyd.pid", "chronyc tracking"),
    ("run/chronyd.pid", "chronyc tracking"),
    ("run/ntpd.pid", "ntpq -c rv"),
    ("run/ntpd.sock", "ntpctl -s status"),
    ("run/ntpd-rs/observe", "ntp-ctl status"),
    ("run/ptp4l", "pmc -u 'GET TIME_STATUS_NP'"),
];

/// Reads and judges everything. `newest` is the start of the newest certificate.
pub fn examine(system: &System, now: u64, newest: u64) -> [Check; 2] {
    [judge_time(now, built(), newest), judge_service(service(system))]
}

/// The time of the program's file, in seconds since 1970; zero if it is unknown.
fn built() -> u64 {
    let modified = std::env::current_exe().and_then(std::fs::metadata).and_then(|m| m.modified());
    let since = modified.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_secs())
}

fn service(system: &System) -> Service {
    if system.has("run/systemd/timesync/synchronized") {
        return Service::Synchronised;
    }
    if let Some((_, command)) = OTHERS.iter().find(|(path, _)| system.has(path)) {
        return Service::Other(command);
    }
    if system.has("run/systemd/timesync") { Service::Waiting } else { Service::Hidden }
}

fn judge_time(now: u64, built: u64, newest: u64) -> Check {
    let program = EPOCH.max(built.saturating_sub(FILE_SKEW));
    let certificate = newest.saturating_sub(SKEW);
    let (least, why) = match program >= certificate {
        true => (program, "the build of this program"),
        false => (certificate, "the newest certificate"),
    };
    let wanted = format!("after {} ({why})", human_instant(least));
    let check = Check::good("clock", human_instant(now), wanted);
    if now >= least {
        return check;
    }
    check.but(Verdict::Wrong, "timedatectl set-ntp true, or date --utc --set 'YYYY-MM-DD HH:MM:SS'")
}

fn judge_service(service: Service) -> Check {
    const NAME: &str = "clock-synchronised";
    let wanted = "yes";
    match service {
        Service::Synchronised => Check::good(NAME, "yes, by systemd-timesyncd", wanted),
        Service::Waiting => Check::good(NAME, "not yet, by systemd-timesyncd", wanted)
            .but(Verdict::Advice, "timedatectl set-ntp true, and open UDP port 123 to its servers"),
        Service::Other(command) => Check::unchecked(NAME, "another service keeps the time", wanted)
            .but(Verdict::Unchecked, format!("{command} shows it")),
        Service::Hidden => Check::unchecked(NAME, "no time service is visible here", wanted)
            .but(Verdict::Unchecked, "timedatectl shows it, on the host of a container"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_after_the_build_and_the_newest_certificate() {
        let (now, day) = (1_800_000_000, 86_400);
        assert_eq!(judge_time(now, now - 1, 0).result, Verdict::Good);
        assert_eq!(judge_time(now, now + day, 0).result, Verdict::Good, "another time zone");
        assert_eq!(judge_time(now, now + day + 1, 0).result, Verdict::Wrong);
        assert_eq!(judge_time(now, 0, now + 60).result, Verdict::Good, "clocks differ a little");
        let late = judge_time(now, 0, now + 61);
        assert_eq!(late.result, Verdict::Wrong);
        assert_eq!(late.found, "2027-01-15 08:00:00 UTC");
        assert_eq!(late.wanted, "after 2027-01-15 08:00:01 UTC (the newest certificate)");
        assert_eq!(judge_time(0, 0, 0).result, Verdict::Wrong, "a host without a battery");
    }

    #[test]
    fn services_are_known_by_their_files() {
        let folder = tempfile::tempdir().unwrap();
        let system = System::below(folder.path());
        let make = |path: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        assert_eq!(service(&system), Service::Hidden);
        std::fs::create_dir_all(folder.path().join("run/systemd/timesync")).unwrap();
        assert_eq!(service(&system), Service::Waiting);
        make("run/chrony/chronyd.pid");
        assert_eq!(service(&system), Service::Other("chronyc tracking"));
        make("run/systemd/timesync/synchronized");
        assert_eq!(service(&system), Service::Synchronised);
    }

    #[test]
    fn only_a_service_that_waits_is_advised() {
        let verdicts = [
            (Service::Synchronised, Verdict::Good),
            (Service::Waiting, Verdict::Advice),
            (Service::Other("chronyc tracking"), Verdict::Unchecked),
            (Service::Hidden, Verdict::Unchecked),
        ];
        for (service, verdict) in verdicts {
            assert_eq!(judge_service(service).result, verdict, "{service:?}");
        }
    }
}
