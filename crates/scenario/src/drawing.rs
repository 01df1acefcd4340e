//! Pictures of a scenario's network: for the terminal, and as SVG.

mod canvas;
mod link_label;
mod role;
mod svg;
mod text;

pub use role::Role;
pub use svg::svg;
pub use text::text;

#[cfg(test)]
mod tests;
