//! Queues in products of bandwidth and delay (BDP).

use crate::model::{Queue, Scenario};
use control::Size;
use document::{DeValue, text};

/// The bound of a queue as a scenario says it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueBound {
    /// In bytes or packets.
    Fixed(Queue),
    /// In products of the rate and the round-trip time.
    Products(f64),
}

/// The largest number of products.
const MOST: f64 = 1_000.0;

impl QueueBound {
    /// Reads a field: `"1 BDP"`, or as [`Queue`].
    ///
    /// # Errors
    /// It is none of these.
    pub fn read(value: &DeValue<'_>) -> Result<QueueBound, String> {
        let given = text(value)?;
        let Some(number) = given.trim().strip_suffix("BDP") else {
            let queue = given.parse::<Queue>().map_err(|error| format!("{error}, \"1 BDP\""))?;
            return Ok(QueueBound::Fixed(queue));
        };
        let products = number.trim().replace('_', "").parse::<f64>().ok();
        let products = products.filter(|products| *products > 0.0 && *products <= MOST);
        products.map(QueueBound::Products).ok_or_else(|| {
            format!(
                "`{given}` is not a product of rate and round-trip time; write it like \"1 BDP\""
            )
        })
    }
}

/// Sets the queues whose bounds are products. The round-trip time of a link is that of the longest
/// way of a consumer or workload that crosses it, without queueing; of a link that none crosses,
/// its own. Every queue has room for a packet.
pub fn resolve(scenario: &mut Scenario) {
    let mut directions = scenario.links.iter().flat_map(|link| &link.directions);
    if directions.all(|direction| direction.products.is_none()) {
        return;
    }
    // The delay of each link, there and back.
    let own: Vec<f64> = scenario
        .links
        .iter()
        .map(|link| link.directions.iter().map(|direction| direction.delay.as_secs_f64()).sum())
        .collect();
    let mut longest = own.clone();
    let of_workloads = scenario.ways_of_workloads().into_iter().map(|(_, way)| way);
    for way in scenario.ways().into_iter().chain(of_workloads) {
        let round_trip: f64 = way.iter().map(|link| own[*link]).sum();
        for link in way {
            longest[link] = longest[link].max(round_trip);
        }
    }
    for (link, round_trip) in scenario.links.iter_mut().zip(longest) {
        for direction in &mut link.directions {
            let Some(products) = direction.products else { continue };
            let bytes = products * direction.rate.0 as f64 / 8.0 * round_trip;
            let least = packet::MAX_PACKET as u64;
            direction.queue = Queue::Size(Size((bytes.round() as u64).max(least)));
        }
    }
}

#[cfg(test)]
mod tests {
    /// A path of 12 ms over 100, 20 and 100 Mbit/s, and a link of 4 ms beside it.
    fn file(queue: &str) -> String {
        format!(
            "[scenario]\nduration = \"1 s\"\n[[node]]\nname = [\"a\", \"b\", \"c\", \"d\", \"e\"]\n\
             [[link]]\nbetween = [\"a\", \"b\"]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n\
             [[link]]\nbetween = [\"b\", \"c\"]\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\"\n\
             queue = \"{queue}\"\nback = {{ rate = \"2 Mbit/s\", queue = \"0.5 BDP\" }}\n\
             [[link]]\nbetween = [\"c\", \"d\"]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n\
             [[link]]\nbetween = [\"d\", \"e\"]\nrate = \"80 Mbit/s\"\ndelay = \"4 ms\"\n\
             queue = \"2 BDP\"\n\
             [[content]]\nname = \"/x\"\nat = \"d\"\nsize = \"1 MB\"\n\
             [[consumer]]\nat = \"a\"\nname = \"/x\"\n"
        )
    }

    fn queues(queue: &str, settings: &[&str]) -> Result<Vec<String>, String> {
        let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
        let batch = crate::parse(&file(queue), "x.toml", &settings).map_err(|e| e.to_string())?;
        let links = &batch.runs[0].scenario.links;
        let directions = links.iter().flat_map(|link| &link.directions);
        Ok(directions.map(|direction| direction.queue.to_string()).collect())
    }

    #[test]
    fn a_product_is_of_the_rate_and_the_consumers_round_trip() {
        // 24 ms at 20 Mbit/s are 60 kB; half of them at 2 Mbit/s are 3 kB, less than a packet.
        // Beside the path 8 ms at 80 Mbit/s are 80 kB.
        let all = queues("1 BDP", &[]).unwrap();
        let fixed = "100 packets";
        let expected = [fixed, fixed, "60.0 kB", "8.80 kB", fixed, fixed, "160 kB", "160 kB"];
        assert_eq!(all, expected);
        assert_eq!(queues("0.25BDP", &[]).unwrap()[2], "15.0 kB");
        assert_eq!(queues("+0.2_5 BDP", &[]).unwrap()[2], "15.0 kB", "as other numbers");
        assert_eq!(queues("30 kB", &[]).unwrap()[2], "30.0 kB");
        let set = queues("30 kB", &["link.b-c.queue=10 BDP"]).unwrap();
        assert_eq!(set[2], "600 kB");
    }

    #[test]
    fn invalid_queue_bounds_are_mistakes() {
        for queue in ["0 BDP", "-1 BDP", "x BDP", "nan BDP", "2000 BDP"] {
            let error = queues(queue, &[]).unwrap_err();
            assert!(error.contains("write it like \"1 BDP\""), "{queue}: {error}");
        }
        let error = queues("many", &[]).unwrap_err();
        assert!(error.contains("\"100 packets\", \"1 BDP\""), "{error}");
    }
}
