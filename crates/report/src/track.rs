//! One quantity of one thing in one run, thinned out while it is read: memory does not grow with
//! the length of the file.

/// The subject of a track: kind of thing, quantity, thing.
pub type Key = (String, String, String);

/// The number of samples kept unchanged.
const RAW: usize = 2_000;
/// Buckets over the time that a picture shows.
pub const BUCKETS: f64 = 150.0;
/// The maximum number of buckets, if the run continues after that.
const MOST_BUCKETS: usize = 3_000;
/// Columns of a picture: of more samples than these can show, four a column are kept.
const COLUMNS: usize = 400;

/// A sample.
pub type Point = (f64, f64);

/// First, least, greatest and last sample of a column: a line drawn through them has the same
/// pixels as one through all (U. Jugel and others, M4, PVLDB 7, 2014).
#[derive(Clone, Copy, Debug)]
struct Column {
    first: Point,
    least: Point,
    most: Point,
    last: Point,
}

impl Column {
    fn new(point: Point) -> Column {
        Column { first: point, least: point, most: point, last: point }
    }

    fn add(&mut self, point: Point) {
        if point.1 < self.least.1 {
            self.least = point;
        }
        if point.1 > self.most.1 {
            self.most = point;
        }
        self.last = point;
    }

    fn points(&self) -> Vec<Point> {
        let mut points = vec![self.first, self.least, self.most, self.last];
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup();
        points
    }
}

/// The samples of a span of time.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    place: usize,
    sum: f64,
    count: u32,
    last: f64,
}

/// The samples of one quantity of one thing in one run.
#[derive(Clone, Debug)]
pub struct Track {
    raw: Vec<Point>,
    columns: Vec<Option<Column>>,
    /// Seconds that the run takes, and that a bucket has.
    duration: f64,
    shown: f64,
    bucket: f64,
    /// Those that have a sample, by their places: samples anywhere take no more memory than others.
    buckets: Vec<Bucket>,
    /// Sum and number of the values that pictures show at first.
    sum: f64,
    summed: u64,
    /// The number of samples.
    pub count: u64,
    /// The least of the values that pictures show at first.
    pub least: f64,
    /// The greatest of all values.
    pub most: f64,
    /// The last value that pictures show at first.
    pub last: f64,
}

impl Track {
    /// An empty track of a run of this many seconds, of which pictures show the first `shown`.
    pub fn new(duration: f64, shown: f64) -> Track {
        Track {
            raw: Vec::new(),
            columns: Vec::new(),
            duration,
            shown,
            bucket: (shown / BUCKETS).max(duration / MOST_BUCKETS as f64).max(1e-9),
            buckets: Vec::new(),
            sum: 0.0,
            summed: 0,
            count: 0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            last: 0.0,
        }
    }

    /// One more sample.
    pub fn add(&mut self, time: f64, value: f64) {
        self.count += 1;
        self.most = self.most.max(value);
        if time <= self.shown || self.summed == 0 {
            self.sum += value;
            self.summed += 1;
            self.least = self.least.min(value);
            self.last = value;
        }
        let place = ((time / self.bucket) as usize).min(MOST_BUCKETS);
        let bucket = self.bucket_at(place);
        bucket.sum += value;
        bucket.count += 1;
        bucket.last = value;
        if self.columns.is_empty() {
            self.raw.push((time, value));
            if self.raw.len() > RAW {
                self.columns = vec![None; COLUMNS + 1];
                for point in std::mem::take(&mut self.raw) {
                    self.thin(point);
                }
            }
        } else {
            self.thin((time, value));
        }
    }

    fn bucket_at(&mut self, place: usize) -> &mut Bucket {
        // Samples arrive in the order of their times: in the last bucket, or in a new one after it.
        let at = match self.buckets.last() {
            Some(last) if last.place < place => Err(self.buckets.len()),
            Some(last) if last.place == place => Ok(self.buckets.len() - 1),
            _ => self.buckets.binary_search_by_key(&place, |bucket| bucket.place),
        };
        let at = at.unwrap_or_else(|at| {
            self.buckets.insert(at, Bucket { place, sum: 0.0, count: 0, last: 0.0 });
            at
        });
        &mut self.buckets[at]
    }

    fn thin(&mut self, point: Point) {
        let place = (point.0 / self.duration.max(1e-9) * COLUMNS as f64) as usize;
        match &mut self.columns[place.min(COLUMNS)] {
            Some(column) => column.add(point),
            none => *none = Some(Column::new(point)),
        }
    }

    /// The mean of the values that pictures show at first.
    pub fn mean(&self) -> f64 {
        self.sum / self.summed.max(1) as f64
    }

    /// Some samples have been discarded.
    pub fn is_thinned(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Samples to be drawn.
    pub fn points(&self) -> Vec<Point> {
        match self.is_thinned() {
            true => self.columns.iter().flatten().flat_map(Column::points).collect(),
            false => self.raw.clone(),
        }
    }

    /// For a growing sum: its growth in each span of this many initial buckets, with the end of the
    /// span. Spans without a sample are extended.
    pub fn growth(&self, stride: usize) -> Vec<Point> {
        let (mut growth, mut before) = (Vec::new(), 0.0);
        let stride = stride.max(1);
        for span in self.buckets.chunk_by(|a, b| a.place / stride == b.place / stride) {
            let Some(Bucket { place, last, .. }) = span.last() else { continue };
            let end = ((place / stride + 1) * stride) as f64 * self.bucket;
            // Only the last sample may fall into a span beyond the end.
            if end > self.duration * (1.0 + 1e-9) {
                break;
            }
            growth.push((end, last - before));
            before = *last;
        }
        growth
    }

    /// A derived quantity: its values, and their computed mean.
    pub fn made(&self, points: &[Point], stride: usize, mean: f64) -> Track {
        let mut track = Track::new(self.duration, self.shown);
        track.bucket = self.bucket * stride.max(1) as f64;
        points.iter().for_each(|(time, value)| track.add(*time, *value));
        (track.sum, track.summed) = (mean, 1);
        track
    }

    /// Until when pictures show it at first.
    pub fn shown(&self) -> f64 {
        self.shown
    }

    /// The seconds of a bucket.
    pub fn bucket(&self) -> f64 {
        self.bucket
    }

    /// The mean of each bucket in which there are samples, at its middle.
    pub fn smooth(&self) -> Vec<Point> {
        self.buckets
            .iter()
            .map(|bucket| {
                let middle = (bucket.place as f64 + 0.5) * self.bucket;
                (middle, bucket.sum / f64::from(bucket.count))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_stay_as_they_are() {
        let mut track = Track::new(10.0, 10.0);
        (0..100).for_each(|i| track.add(f64::from(i) / 10.0, f64::from(i)));
        assert!(!track.is_thinned());
        assert_eq!((track.points().len(), track.points()[7]), (100, (0.7, 7.0)));
        assert_eq!((track.mean(), track.least, track.most, track.last), (49.5, 0.0, 99.0, 99.0));
    }

    #[test]
    fn idle_time_after_the_last_flow_is_not_part_of_the_mean() {
        let mut track = Track::new(10.0, 1.0);
        (0..100).for_each(|i| track.add(f64::from(i) / 10.0, if i <= 10 { 6.0 } else { 0.0 }));
        assert_eq!((track.mean(), track.least, track.last), (6.0, 6.0, 6.0));
    }

    #[test]
    fn sums_grow_span_by_span() {
        // 15 s, 150 buckets: three a second for 6 s, then nothing, then six more at 12.05 s.
        let mut track = Track::new(15.0, 15.0);
        (1..=60).for_each(|i| track.add(f64::from(i) / 10.0 - 0.05, f64::from(i) * 0.3));
        track.add(12.05, 24.0);
        let growth = track.growth(30);
        let wanted = [(3.0, 9.0), (6.0, 9.0), (15.0, 6.0)];
        assert_eq!(growth.len(), wanted.len());
        for (got, want) in growth.iter().zip(wanted) {
            assert!((got.0 - want.0).abs() < 1e-9 && (got.1 - want.1).abs() < 1e-9, "{growth:?}");
        }
    }

    #[test]
    fn samples_in_any_order_fall_into_their_buckets() {
        let mut track = Track::new(10.0, 1.5);
        [9.5, 0.005, 0.015, 0.007].into_iter().for_each(|at| track.add(at, at));
        // Buckets of a hundredth of a second.
        let wanted = [(0.005, 0.006), (0.015, 0.015), (9.505, 9.5)];
        assert_eq!(track.smooth().len(), 3);
        for (got, want) in track.smooth().iter().zip(wanted) {
            assert!((got.0 - want.0).abs() < 1e-9 && (got.1 - want.1).abs() < 1e-9, "{got:?}");
        }
    }

    #[test]
    fn of_many_samples_the_extremes_stay() {
        let mut track = Track::new(10.0, 10.0);
        for i in 0..100_000u32 {
            let value = if i == 54_321 { 9.0 } else { f64::from(i % 2) };
            track.add(f64::from(i) / 10_000.0, value);
        }
        let points = track.points();
        assert!(track.is_thinned() && points.len() <= 4 * (COLUMNS + 1), "{}", points.len());
        assert!(points.contains(&(5.4321, 9.0)));
        assert!(points.is_sorted_by(|a, b| a.0 <= b.0));
        // Buckets of 1/15 s with 667 samples of 0 and 1.
        let smooth = track.smooth();
        assert_eq!(smooth.len(), 150);
        assert!(smooth.iter().all(|(_, mean)| (mean - 0.5).abs() < 0.02));
    }
}
