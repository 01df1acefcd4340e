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

#[cfg(test)]
mod tests {
    use super::*;

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
