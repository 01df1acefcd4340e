//! `weir plot`

use crate::cli::plot::{LogWord, PlotArgs};
use crate::exit::{Failure, Kind};
use crate::file;
use crate::output;
use report::drawing::{self, Format, Look, MOST_COLUMNS};
use report::plot::{Log, PlotError, Request, plot};

/// Draws the picture.
pub fn run(args: &PlotArgs) -> Result<(), Failure> {
    let ending = args.output.extension().unwrap_or_default().to_string_lossy();
    let Some(format) = Format::of_ending(&ending) else {
        let what = format!("{} does not end in .svg, .png or .pdf", args.output.display());
        return Err(Failure::new(Kind::Usage, what).then("the ending selects the format"));
    };
    let request = Request {
        x: args.x.clone(),
        y: args.y.clone(),
        by: args.by.clone(),
        facet: args.facet.clone(),
        log: match args.log {
            None => Log::Auto,
            Some(LogWord::None) => Log::None,
            Some(LogWord::X) => Log::X,
            Some(LogWord::Y) => Log::Y,
            Some(LogWord::Xy) => Log::Both,
        },
        is_scatter: args.scatter,
        is_on_page: false,
    };
    let picture = plot(&args.folders, &request).map_err(|error| not_drawn(&error))?;
    let look = Look { width: f64::from(args.width), has_texts: !args.bare, columns: MOST_COLUMNS };
    let bytes = drawing::file(&picture, &look, format);
    file::replace(&args.output, &bytes)
        .map_err(|error| super::report::unwritable(&args.output, &error))?;
    if !args.quiet {
        output::wrapped(&picture.title)?;
        output::note(&format!("written to {}", args.output.display()));
    }
    Ok(())
}

fn not_drawn(error: &PlotError) -> Failure {
    let next = match error {
        PlotError::Results(error) => return super::report::unreadable(error),
        PlotError::Empty => "finish the runs: weir sim run --out DIR --resume",
        PlotError::NoX { .. } => "sweep over a field with numbers, or draw points with --scatter",
        PlotError::Field { .. } | PlotError::Texts { .. } => "name one of these fields",
        PlotError::Measure { .. } => "name one of these with --y, or with --x for --scatter",
        PlotError::NoValues { .. } => "choose another measure",
        PlotError::Panels { .. } => {
            "name fields with --by and --facet so that fewer are left, or sweep over fewer values"
        }
    };
    Failure::new(Kind::Usage, error).then(next)
}
