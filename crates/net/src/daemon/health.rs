//! Answers to supervisors: the daemon is alive, and it is ready.

use serde_json::json;
use std::time::Duration;

/// The loop is blocked if it does not answer for this long. It answers between two turns, and a
/// turn takes milliseconds.
pub(super) const BLOCKED: Duration = Duration::from_secs(5);

/// An answer to a supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// True if nothing is wrong.
    pub is_good: bool,
    /// A JSON object with the answer, and what is wrong.
    pub json: String,
}

/// The state of a daemon whose loop turns.
#[derive(Clone, Debug, Default)]
pub(super) struct Condition {
    pub uptime_ms: u64,
    pub is_stopping: bool,
    /// The listening addresses, as face URIs.
    pub listening: Vec<String>,
    /// Parts of the configuration that could not be applied, and why.
    pub left_out: Vec<String>,
    /// Mistakes of the configuration as it was last read, so that the earlier one is in use, and
    /// changes that wait for a restart.
    pub warnings: Vec<String>,
}

impl Condition {
    /// True if the daemon uses all of the file as it was last read.
    pub fn is_applied(&self) -> bool {
        self.left_out.is_empty() && self.warnings.is_empty()
    }
}

/// The loop turns; `None` if it does not.
pub(super) fn alive(condition: Option<&Condition>) -> Health {
    let Some(condition) = condition else { return dead("alive") };
    let uptime = condition.uptime_ms / 1000;
    let json = json!({ "alive": true, "uptime_seconds": uptime, "problems": [] });
    Health { is_good: true, json: format!("{json}\n") }
}

/// It turns, all listeners are open, all of the configuration is applied, and the daemon is not
/// stopping. With a mistake in the file the earlier configuration stays in effect as a whole, and a
/// change that waits for a restart was never promised, so those are warnings.
pub(super) fn ready(condition: Option<&Condition>) -> Health {
    let Some(condition) = condition else { return dead("ready") };
    let Condition { uptime_ms, is_stopping, listening, left_out, warnings } = condition;
    let mut problems = left_out.clone();
    if *is_stopping {
        problems.push("the forwarder is stopping; its listeners are closed".to_owned());
    }
    let is_good = problems.is_empty();
    let json = json!({
        "ready": is_good,
        "uptime_seconds": uptime_ms / 1000,
        "listening": listening,
        "problems": problems,
        "warnings": warnings,
    });
    Health { is_good, json: format!("{json}\n") }
}

fn dead(what: &str) -> Health {
    let seconds = BLOCKED.as_secs();
    let problem = format!(
        "the forwarder's loop has not turned for {seconds} s: it is blocked or has ended, or this \
         host is overloaded"
    );
    Health { is_good: false, json: format!("{}\n", json!({ what: false, "problems": [problem] })) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(health: &Health) -> serde_json::Value {
        serde_json::from_str(&health.json).unwrap()
    }

    #[test]
    fn a_daemon_with_everything_applied_is_ready() {
        let listening = vec!["unix:///run/x".to_owned()];
        let whole = Condition { uptime_ms: 2999, listening, ..Condition::default() };
        assert!(whole.is_applied());
        let health = ready(Some(&whole));
        let expected = json!({
            "ready": true, "uptime_seconds": 2, "listening": ["unix:///run/x"],
            "problems": [], "warnings": [],
        });
        assert_eq!((health.is_good, read(&health)), (true, expected));
    }

    #[test]
    fn health_replies_name_the_problem() {
        let broken = Condition { left_out: vec!["no port".to_owned()], ..Condition::default() };
        let stopping = Condition { is_stopping: true, ..Condition::default() };
        for (condition, word) in [(broken, "no port"), (stopping, "stopping")] {
            let health = ready(Some(&condition));
            assert!(!health.is_good && health.json.contains(word), "{}", health.json);
            assert!(alive(Some(&condition)).is_good, "it is alive all the same");
        }
        assert!(!alive(None).is_good && alive(None).json.contains("blocked"));
        assert_eq!(read(&ready(None))["ready"], false);
    }

    #[test]
    fn a_mistake_in_the_file_is_a_warning() {
        let warnings = vec!["weir.toml:1".to_owned()];
        let condition = Condition { warnings, ..Condition::default() };
        let health = ready(Some(&condition));
        assert!(health.is_good && !condition.is_applied());
        assert_eq!(read(&health)["warnings"], json!(["weir.toml:1"]));
    }
}
