//! The pages of studies, in their folder.

use crate::exit::{Failure, Kind};
use crate::file;
use report::drawing::{self, Format, Look};
use std::fs;
use std::path::{Path, PathBuf};
use study::{OnDaemons, Outcome, Page, Study};

/// The folder of pictures, beside the pages in Markdown.
const PICTURES: &str = "pictures";
/// The width of pictures in CSS pixels.
const WIDTH: f64 = 960.0;

/// From the folder of the pages in the documents to that of a study.
const FROM_DOCUMENTS: &str = "../../scenarios";

/// A folder that cannot be written is reported before the work is done.
pub fn begin(out: &Path) -> Result<(), Failure> {
    fs::create_dir_all(out).map_err(|error| unwritable(out, &error))?;
    let probe = tempfile::Builder::new().prefix(".study").tempfile_in(out);
    probe.map(drop).map_err(|error| unwritable(out, &error))
}

/// Keeps the results of a study on real daemons, with the earlier results of other experiments, and
/// updates the existing pages.
pub fn keep(out: &Path, study: &Study, done: &OnDaemons) -> Result<(), Failure> {
    let mut whole = done.clone();
    let before = kept(out, &study.name).map(|kept| kept.experiments).unwrap_or_default();
    whole.experiments.extend(
        before.into_iter().filter(|before| {
            done.experiments.iter().all(|one| one.experiment != before.experiment)
        }),
    );
    let json = serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n";
    write(out, &on_daemons(&study.name), &json)?;
    for ending in ["html", "md"] {
        let name = format!("{}.{ending}", study.name);
        if let Ok(page) = fs::read_to_string(out.join(&name)) {
            write(out, &name, &done.put_into(&page, study, ending == "html"))?;
        }
    }
    Ok(())
}

/// The earlier result on daemons.
fn kept(out: &Path, study: &str) -> Option<OnDaemons> {
    serde_json::from_str(&fs::read_to_string(out.join(on_daemons(study))).ok()?).ok()
}

fn on_daemons(study: &str) -> String {
    format!("{study}.testbed.json")
}

/// A study's page as HTML and Markdown, and its outcome as JSON.
pub fn study(out: &Path, study: &Study, outcome: &Outcome) -> Result<(), Failure> {
    let daemons = kept(out, &study.name);
    let page = Page::new(study, outcome, daemons.as_ref());
    let json = serde_json::to_string_pretty(outcome).unwrap_or_default() + "\n";
    write(out, &format!("{}.html", study.name), &page.html())?;
    write(out, &format!("{}.json", study.name), &json)?;
    let folder = format!("{FROM_DOCUMENTS}/{}", study.name);
    write(out, &format!("{}.md", study.name), &page.markdown(&folder))
}

/// An arena's page as HTML and Markdown with its pictures, and its outcome as JSON.
pub fn arena(
    out: &Path,
    name: &str,
    outcome: &arena::Outcome,
    page: &arena::Page,
) -> Result<(), Failure> {
    // A line for each column: changes of results can be read.
    let json = serde_json::to_string(outcome).unwrap_or_default();
    let json = ["{\"cell\":", "\"scores\":", "\"regret\":", "\"mean\":", "\"delay_mean_ms\":"]
        .iter()
        .fold(json, |json, key| json.replace(key, &format!("\n{key}")));
    write(out, &format!("{name}.json"), &(json + "\n"))?;
    write(out, &format!("{name}.html"), &page.html())?;
    let folder = format!("{FROM_DOCUMENTS}/{name}");
    write(out, &format!("{name}.md"), &page.markdown(&folder))?;
    let pictures = out.join(PICTURES);
    fs::create_dir_all(&pictures).map_err(|error| unwritable(&pictures, &error))?;
    let look = Look { width: WIDTH, has_texts: false, columns: arena::COLUMNS };
    page.pictures().iter().try_for_each(|picture| {
        let path = pictures.join(format!("{}.svg", picture.id));
        let bytes = drawing::file(picture, &look, Format::Svg);
        file::replace(&path, &bytes).map_err(|error| unwritable(&path, &error))
    })
}

/// The page that leads to all studies whose outcomes are in the folder, whenever they were run.
pub fn index(out: &Path) -> Result<(), Failure> {
    let entries = fs::read_dir(out).map_err(|error| unwritable(out, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    // Other files are not ours.
    let outcomes: Vec<Outcome> = paths
        .iter()
        .filter_map(|path| serde_json::from_str(&fs::read_to_string(path).ok()?).ok())
        .collect();
    let arenas: Vec<arena::Outcome> = paths.iter().filter_map(|path| read_arena(path)).collect();
    write(out, "index.html", &study::index_html(&outcomes, &arenas_of(&arenas, "html")))?;
    write(out, "README.md", &study::index(&outcomes, "md", &arenas_of(&arenas, "md")))
}

/// The earlier outcome of an arena.
pub fn kept_arena(out: &Path, name: &str) -> Option<arena::Outcome> {
    read_arena(&out.join(format!("{name}.json")))
}

fn read_arena(path: &Path) -> Option<arena::Outcome> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

/// The part of the page of all studies that leads to arenas.
fn arenas_of(arenas: &[arena::Outcome], ending: &str) -> String {
    let mut text = String::new();
    for one in arenas {
        let (title, name, cells) = (&one.arena_title, &one.arena, one.cells.len());
        let schemes = one.schemes.len();
        text += &format!("\n[{title}]({name}.{ending}): {schemes} schemes in {cells} networks.\n");
    }
    text
}

fn write(out: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = out.join(name);
    file::replace(&path, text).map_err(|error| unwritable(&path, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    let what = format!("cannot write {}: {error}", path.display());
    Failure::new(Kind::File, what).then("choose another folder with --out")
}
