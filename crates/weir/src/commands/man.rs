//! `weir man`

use crate::cli::install::ManArgs;
use crate::cli::{Cli, EXIT_CODES};
use crate::exit::{Failure, Kind};
use crate::{file, output};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::io;
use std::path::Path;

/// The section of user commands.
const SECTION: &str = "1";

/// Prints the page of the program, or writes all pages.
pub fn run(args: &ManArgs) -> Result<(), Failure> {
    let weir = command_line();
    let Some(folder) = &args.folder else {
        let page = page(&weir, None).map_err(|error| Failure::new(Kind::Failed, error))?;
        return output::result(page.trim_end());
    };
    let mut pages = Vec::new();
    collect(&weir, None, &mut pages).map_err(|error| Failure::new(Kind::Failed, error))?;
    write(folder, &pages)?;
    output::result(&format!("{} pages in {}", pages.len(), folder.display()))
}

/// The program and its commands. The pages have the same texts as `weir help`, which needs none.
fn command_line() -> Command {
    let mut weir = Cli::command().disable_help_subcommand(true);
    weir.build();
    weir
}

/// A page's file name, and its text.
struct Page {
    file: String,
    text: String,
}

/// The page of a command, then those of the commands below it.
fn collect(command: &Command, above: Option<&Command>, pages: &mut Vec<Page>) -> io::Result<()> {
    let file = format!("{}.{SECTION}", name(command));
    pages.push(Page { file, text: page(command, above)? });
    command.get_subcommands().try_for_each(|below| collect(below, Some(command), pages))
}

fn page(command: &Command, above: Option<&Command>) -> io::Result<String> {
    let version = concat!("weir ", env!("CARGO_PKG_VERSION"));
    // The version is in the last line of each page.
    let shown = command.clone().after_help(EXIT_CODES).version(None::<&str>);
    let man = Man::new(shown).section(SECTION).source(version).manual("Weir");
    let mut text = Vec::new();
    man.render(&mut text)?;
    // The generator has one heading for every text behind the options.
    let mut text =
        String::from_utf8_lossy(&text).replace("\n.SH EXTRA\n", "\n.SH \"EXIT STATUS\"\n");
    if let Some(above) = above {
        let above = name(above).replace('-', "\\-");
        text += &format!(".SH \"SEE ALSO\"\n\\fB{above}\\fR({SECTION})\n");
    }
    Ok(text)
}

/// `weir-face-list`
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn write(folder: &Path, pages: &[Page]) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    for Page { file, text } in pages {
        let path = folder.join(file);
        file::replace(&path, text).map_err(|error| cannot_write(&path, &error))?;
    }
    Ok(())
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let text = format!("cannot write {}: {error}", path.display());
    Failure::new(Kind::File, text).then("choose a folder that you may write to")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_the_way_back() {
        let mut pages = Vec::new();
        collect(&command_line(), None, &mut pages).unwrap();
        let page = |file: &str| {
            let found = pages.iter().find(|page| page.file == file);
            found.map(|page| page.text.as_str()).unwrap_or_default()
        };
        assert!(page("weir.1").contains("\nweir\\-face(1)\n"), "{}", page("weir.1"));
        assert!(!page("weir.1").contains("SEE ALSO"));
        let create = page("weir-face-create.1");
        for part in [
            "\nweir\\-face\\-create \\- Create a face to a peer\n",
            "\n\\fB\\-\\-mtu\\fR \\fI<BYTES>\\fR\n",
            "\n.SH \"EXIT STATUS\"\nExit codes: 0 done, ",
            "\n.SH \"SEE ALSO\"\n\\fBweir\\-face\\fR(1)\n",
        ] {
            assert!(create.contains(part), "{part} is missing in {create}");
        }
    }
}
