//! Counters that are summed and compared field by field.

/// Values of counters that an earlier state can be subtracted from.
pub trait Since {
    /// The difference to an earlier state of the same counter; 0 if it has not grown.
    #[must_use]
    fn since(&self, earlier: &Self) -> Self;
}

impl Since for u64 {
    fn since(&self, earlier: &u64) -> u64 {
        self.saturating_sub(*earlier)
    }
}

/// Declares a struct of counters. `+=` adds counters of another source, and [`Since`] subtracts an
/// earlier state.
#[macro_export]
macro_rules! summed {
    (
        $(#[$about:meta])+
        pub struct $name:ident { $($(#[$help:meta])+ pub $field:ident: $type:ty,)+ }
    ) => {
        $(#[$about])+
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$help])+ pub $field: $type,)+ }

        impl ::std::ops::AddAssign<&$name> for $name {
            fn add_assign(&mut self, other: &$name) {
                $(self.$field += &other.$field;)+
            }
        }

        impl $crate::Since for $name {
            fn since(&self, earlier: &$name) -> $name {
                $name { $($field: $crate::Since::since(&self.$field, &earlier.$field),)+ }
            }
        }
    };
}

/// Declares a struct of counts as [`summed!`] does, with a list of their names and meanings.
/// Results have these counts as fields.
#[macro_export]
macro_rules! listed {
    (
        $(#[$about:meta])+
        pub struct $name:ident {
            $(
                $(#[doc = $help:literal])+
                $(#[serde $read:tt])?
                pub $count:ident: u64,
            )+
        }
    ) => {
        $crate::summed! {
            $(#[$about])+
            pub struct $name { $($(#[doc = $help])+ $(#[serde $read])? pub $count: u64,)+ }
        }

        impl $name {
            /// The names of its counts and their meanings in Markdown, in their order.
            pub const COUNTS: &[(&str, &str)] =
                &[$((stringify!($count), concat!($($help),+)),)+];

            /// Its counts, in their order.
            pub fn values(&self) -> impl Iterator<Item = u64> {
                [$(self.$count),+].into_iter()
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    listed! {
        /// Counts.
        pub struct Counts {
            /// The first,
            /// on two lines.
            pub one: u64,
            /// The second.
            pub two: u64,
        }
    }

    #[test]
    fn counts_are_listed_with_their_meanings() {
        let listed = [("one", " The first, on two lines."), ("two", " The second.")];
        assert_eq!(Counts::COUNTS, listed);
        let mut counts = Counts { one: 1, two: 2 };
        counts += &Counts { one: 10, two: 20 };
        assert_eq!(counts.values().collect::<Vec<_>>(), [11, 22]);
    }

    summed! {
        /// Counters with others in them.
        #[derive(Copy)]
        pub struct Outer {
            /// A number.
            pub number: u64,
            /// Others.
            pub inner: Inner,
        }
    }

    summed! {
        /// Others.
        #[derive(Copy)]
        pub struct Inner {
            /// A number.
            pub number: u64,
        }
    }

    #[test]
    fn every_counter_is_added_and_subtracted() {
        let earlier = Outer { number: 1, inner: Inner { number: 20 } };
        let now = Outer { number: 10, inner: Inner { number: 300 } };
        let mut sum = now.since(&earlier);
        assert_eq!(sum, Outer { number: 9, inner: Inner { number: 280 } });
        sum += &earlier;
        assert_eq!(sum, now);
        assert_eq!(earlier.since(&now), Outer::default());
    }
}
