//! Links whose delay and loss change during a run.

mod support;

use scenario::result::RunResult;
use scenario::{execute, parse};
use support::Patient;

/// Interests at a constant rate over a link of 10 ms, which changes after 5 of 10 seconds.
fn run(fault: &str) -> Result<RunResult, String> {
    let text = format!(
        "[scenario]\nduration = \"10 s\"\n[topology]\ngenerator = \"line\"\nrate = \"8 Mbit/s\"\n\
         delay = \"10 ms\"\n[[content]]\nname = \"/x\"\nat = \"n1\"\nsize = \"10 MB\"\n\
         segment = \"1000 B\"\nsigning = \"none\"\n\
         [[consumer]]\nat = \"n0\"\nname = \"/x\"\nrate = \"100 /s\"\n\
         [[fault]]\nat = \"5 s\"\n{fault}"
    );
    let batch = parse(&text, "x.toml", &[]).map_err(|error| error.to_string())?;
    Ok(execute(&batch, 0, &Patient).expect("it can be built"))
}

fn mean_rtt(result: &RunResult) -> f64 {
    result.flows[0].rtt_mean_ms.expect("Data came")
}

#[test]
fn a_delay_changes_in_one_direction() {
    // 20 ms and the time for the packets, about 1.2 ms; then 50 ms more for half of them, or 8 ms
    // less. The answer to an Interest of the moment before the change may belong to either half:
    // no more than 7 of 1000, as many as are on their way in 70 ms, so 7 / 1000 of 50 ms, or of
    // 8 ms.
    let longer = run("kind = \"link-delay\"\nlink = [\"n1\", \"n0\"]\ndelay = \"60 ms\"").unwrap();
    let shorter = run("kind = \"link-delay\"\nlink = [\"n0\", \"n1\"]\ndelay = \"2 ms\"").unwrap();
    let same = run("kind = \"link-up\"\nlink = [\"n0\", \"n1\"]").unwrap();
    let base = mean_rtt(&same);
    assert!((20.0..22.0).contains(&base), "{base}");
    assert!((mean_rtt(&longer) - base - 25.0).abs() < 0.35, "{} and {base}", mean_rtt(&longer));
    assert!((base - mean_rtt(&shorter) - 4.0).abs() < 0.056, "{} and {base}", mean_rtt(&shorter));
    assert_eq!(shorter.flows[0].counters.timeouts, 0, "nothing was overtaken or lost");
}

#[test]
fn a_loss_begins_and_ends() {
    let lost = |loss: &str| {
        let fault = format!("kind = \"link-loss\"\nlink = [\"n1\", \"n0\"]\nloss = {loss}");
        run(&fault).unwrap().links[1].drops
    };
    // 500 Data packets: five standard deviations of the binomial distribution are 45.
    assert!(lost("\"20 %\"").abs_diff(100) < 45, "{}", lost("\"20 %\""));
    assert_eq!(lost("\"0 %\""), 0);
    let back = "\"100 %\"\n[[fault]]\nat = \"6 s\"\nkind = \"link-loss\"\nlink = [\"n1\", \"n0\"]\n\
                loss = \"0 %\"";
    assert!(lost(back).abs_diff(100) <= 2, "all of a second: {}", lost(back));
    // The link is bad half of the time: 250 of 500. Its state after k frames correlates with that
    // now as (1 - 0.1 - 0.1)^k, so the variance is that of the binomial distribution times
    // (1 + 0.8) / (1 - 0.8): five standard deviations are 5 * sqrt(500 / 4 * 9) = 168.
    let bursts = lost("{ to_bad = \"10 %\", to_good = \"10 %\" }");
    assert!(bursts.abs_diff(250) < 168, "{bursts}");
}

#[test]
fn a_change_needs_its_value() {
    let error = run("kind = \"link-delay\"\nlink = [\"n0\", \"n1\"]").unwrap_err();
    assert!(error.contains("a fault `link-delay` needs a field `delay`"), "{error}");
    let error = run("kind = \"link-loss\"\nlink = [\"n0\", \"n1\"]\ndelay = \"1 ms\"").unwrap_err();
    assert!(error.contains("needs a field `loss`") && error.contains("has none"), "{error}");
    let error = run("kind = \"link-loss\"\nlink = [\"n0\", \"n1\"]\nloss = \"200 %\"").unwrap_err();
    assert!(error.contains("between 0 and 100 %"), "{error}");
}
