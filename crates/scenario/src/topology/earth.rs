//! Distances on the earth, and what they come to in time.

use control::Duration;

/// Metres a second in a vacuum.
const LIGHT: f64 = 299_792_458.0;
/// The mean radius of the earth in metres (IUGG).
const RADIUS: f64 = 6_371_008.8;

/// A place: latitude and longitude in degrees.
pub type Place = (f64, f64);

/// Checks a latitude and a longitude.
pub fn place(latitude: f64, longitude: f64) -> Option<Place> {
    let is_there = (-90.0..=90.0).contains(&latitude) && (-360.0..=360.0).contains(&longitude);
    is_there.then_some((latitude, longitude))
}

/// Metres between two places along a great circle (haversine formula).
pub fn metres(a: Place, b: Place) -> f64 {
    let lat = libm::sin(radians(a.0 - b.0) / 2.0);
    let lon = libm::sin(radians(a.1 - b.1) / 2.0);
    let cosines = libm::cos(radians(a.0)) * libm::cos(radians(b.0));
    let h = (lat * lat + cosines * lon * lon).clamp(0.0, 1.0);
    2.0 * RADIUS * libm::asin(h.sqrt())
}

fn radians(degrees: f64) -> f64 {
    degrees * (std::f64::consts::PI / 180.0)
}

/// The time that a signal takes over a distance at a share of the speed of light.
pub fn delay(metres: f64, speed: f64) -> Duration {
    Duration::from_secs_f64(metres / (LIGHT * speed))
}

/// Where places stand in a picture: to the right and down, distances alike in the middle latitude.
pub fn flat(places: &[Option<Place>]) -> Vec<Option<[f64; 2]>> {
    let known: Vec<f64> = places.iter().flatten().map(|place| place.0).collect();
    let middle = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let narrow = libm::cos(middle * (std::f64::consts::PI / 180.0)).max(0.1);
    places.iter().map(|place| place.map(|(lat, lon)| [lon * narrow, -lat])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_and_delays_are_those_of_the_earth() {
        // A degree along the equator: the circumference over 360.
        let degree = metres((0.0, 10.0), (0.0, 11.0));
        assert!((degree - 2.0 * std::f64::consts::PI * RADIUS / 360.0).abs() < 0.01, "{degree}");
        // From pole to pole: half of it.
        let half = metres((90.0, 0.0), (-90.0, 77.0));
        assert!((half - std::f64::consts::PI * RADIUS).abs() < 1.0, "{half}");
        // New York to Los Angeles: 3936 km.
        let far = metres((40.7128, -74.0060), (34.0522, -118.2437));
        assert!((far - 3_936_000.0).abs() < 2_000.0, "{far}");
        // 299792.458 km at half the speed of light: two seconds.
        assert_eq!(delay(LIGHT, 0.5), Duration::from_secs(2));
    }

    #[test]
    fn pictures_have_north_up() {
        let flat = flat(&[Some((50.0, 10.0)), None, Some((40.0, 20.0))]);
        let [Some(north_west), None, Some(south_east)] = flat[..] else { panic!("{flat:?}") };
        assert!(north_west[0] < south_east[0] && north_west[1] < south_east[1]);
    }
}
