use super::*;
use crate::picture::{Form, Line, Picture};
use scenario::result::{Flow, RunId, RunResult, Settled};

/// A run with these settings, goodput and queueing delay.
fn run(settings: &[(&str, &str)], seed: u64, goodput: f64, delay: f64) -> RunResult {
    let settings = settings.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
    RunResult {
        id: RunId { seed, settings: settings.collect(), ..RunId::default() },
        settled: Settled {
            goodput_mbps: Some(goodput),
            queue_delay_mean_ms: Some(delay),
            ..Settled::default()
        },
        flows: vec![Flow { control: "cubic".to_owned(), ..Flow::default() }],
        ..RunResult::default()
    }
}

fn results(runs: Vec<RunResult>) -> Results {
    Results::of_runs(&[("one", runs)])
}

/// Two schemes at two losses with three seeds.
fn lossy() -> Results {
    let mut runs = Vec::new();
    for (control, loss, goodputs) in [
        ("bbr", "0 %", [4.0, 6.0, 8.0]),
        ("bbr", "2 %", [5.0, 5.0, 5.0]),
        ("cubic", "0 %", [9.0, 9.0, 9.0]),
        ("cubic", "2 %", [1.0, 1.0, 1.0]),
    ] {
        for (seed, goodput) in (1..).zip(goodputs) {
            let settings = [("control", control), ("link.loss", loss)];
            runs.push(run(&settings, seed, goodput, goodput * 2.0));
        }
    }
    results(runs)
}

fn labels(lines: &[Line]) -> Vec<&str> {
    lines.iter().map(|line| line.label.as_str()).collect()
}

fn rejected(results: &Results, request: &Request) -> String {
    draw(results, request).expect_err("it is rejected").to_string()
}

#[test]
fn a_line_has_means_in_the_field_s_unit_and_a_band_by_student_s_t() {
    let picture = draw(&lossy(), &Request::default()).unwrap();
    assert_eq!((picture.form, picture.x.label.as_str()), (Form::Sweep, "link.loss"));
    assert_eq!((&*picture.x.unit, &*picture.y.unit), ("%", "Mbit/s"));
    let [bbr, cubic] = &*picture.panels[0].lines else { panic!("{:?}", picture.panels) };
    assert_eq!((&*bbr.label, &*cubic.label), ("bbr", "cubic"));
    assert_eq!((bbr.colour, cubic.colour), (0, 1), "as everywhere");
    assert_eq!(bbr.raw, [0.0, 6.0, 2.0, 5.0]);
    // 4, 6, 8: standard error 2 / sqrt(3), t(2) = 4.303: 6 ± 4.9687.
    assert_eq!(bbr.band[..3], [0.0, 1.0313, 10.969]);
    assert_eq!(bbr.band[3..], [2.0, 5.0, 5.0]);
    assert!(picture.title.contains("most with bbr, 5.50 Mbit/s"), "{}", picture.title);
    assert!(picture.caption.contains("Student's t"), "{}", picture.caption);
}

#[test]
fn a_single_seed_has_no_band() {
    let one = |loss| run(&[("link.loss", loss)], 1, 3.0, 1.0);
    let picture = draw(&results(vec![one("1 %"), one("0 %")]), &Request::default()).unwrap();
    let [line] = &*picture.panels[0].lines else { panic!("{:?}", picture.panels) };
    assert_eq!((line.raw.len(), line.band.len()), (4, 0));
    assert_eq!(line.raw[0], 0.0, "from left to right");
    assert_eq!(line.colour, 1, "that of cubic");
    assert!(!picture.caption.contains("Student"), "{}", picture.caption);
}

#[test]
fn an_unknown_field_is_reported_with_the_known_fields() {
    let lossy = lossy();
    let named = |name: &str| Some(name.to_owned());
    let error = rejected(&lossy, &Request { x: named("loss"), ..Request::default() });
    assert_eq!(
        error,
        "`loss` is not a field of these results; fields with numbers: link.loss; with texts: \
         control"
    );
    let error = rejected(&lossy, &Request { facet: named("queue"), ..Request::default() });
    assert!(error.contains("`queue`") && error.contains("link.loss"), "{error}");
    let error = rejected(&lossy, &Request { x: named("control"), ..Request::default() });
    assert!(error.contains("cannot be an x axis") && error.contains("link.loss"), "{error}");
    let error = rejected(&lossy, &Request { y: named("good"), ..Request::default() });
    assert!(error.contains("`good` is not a measure; valid are settled-goodput, "), "{error}");
    let error = rejected(&lossy, &Request { y: named("hit-ratio"), ..Request::default() });
    assert_eq!(error, "no run has a value of `hit-ratio`");
    let texts = results(vec![run(&[("control", "bbr")], 1, 1.0, 1.0)]);
    let error = rejected(&texts, &Request::default());
    assert!(error.contains("no swept field has two or more numbers"), "{error}");
    let stopped = RunResult { interrupted: true, ..RunResult::default() };
    let error = rejected(&results(vec![stopped]), &Request::default());
    assert!(error.contains("no run is complete"), "{error}");
}

/// All points of a picture.
fn points(picture: &Picture) -> usize {
    let lines = picture.panels.iter().flat_map(|panel| &panel.lines);
    lines.map(|line| line.raw.len() / 2).sum()
}

/// A sweep over three fields with these numbers of values.
fn three_fields(schemes: usize, losses: usize, queues: usize) -> Results {
    let names = ["bbr", "cubic", "aimd", "icp", "pcon", "rcp", "mircc", "bic", "raaqm"];
    let mut runs = Vec::new();
    for scheme in &names[..schemes] {
        for loss in 0..losses {
            for queue in 0..queues {
                let (loss, queue) = (format!("{loss} %"), format!("{queue} packets or so"));
                let settings = [("control", *scheme), ("loss", &*loss), ("queue", &*queue)];
                runs.push(run(&settings, 1, 1.0, 1.0));
            }
        }
    }
    results(runs)
}

#[test]
fn no_combination_is_mixed_with_another_or_left_out() {
    let drawn = |schemes, queues| {
        let picture = draw(&three_fields(schemes, 3, queues), &Request::default()).unwrap();
        assert_eq!(points(&picture), schemes * 3 * queues);
        (picture.panels.len(), picture.panels[0].lines.len())
    };
    assert_eq!(drawn(2, 4), (1, 8), "as many lines as a panel has");
    assert_eq!(drawn(5, 4), (4, 5), "else a panel for each queue");
    assert_eq!(drawn(9, 1), (9, 1), "or for each scheme");
    let facet = Request { facet: Some("control".to_owned()), ..Request::default() };
    let picture = draw(&three_fields(2, 3, 4), &facet).unwrap();
    let titles: Vec<&str> = picture.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!((titles, points(&picture)), (vec!["bbr", "cubic"], 24));
    let by = Request { by: vec!["queue".to_owned(), "control".to_owned()], ..Request::default() };
    let picture = draw(&three_fields(2, 3, 2), &by).unwrap();
    assert_eq!(picture.panels[0].lines[1].label, "0 packets or so, cubic");
    let looks: std::collections::BTreeSet<_> =
        picture.panels[0].lines.iter().map(|line| (line.colour, line.dash)).collect();
    assert_eq!(looks.len(), 4, "lines of one scheme differ");
}

#[test]
fn axes_are_logarithmic_where_values_are_far_apart() {
    let of = |values: [&str; 3], log| {
        let runs = values.map(|value| run(&[("link.delay", value)], 1, 1.0, 1.0));
        draw(&results(runs.to_vec()), &Request { log, ..Request::default() }).unwrap()
    };
    assert_eq!(of(["1 ms", "5 ms", "40 ms"], Log::Auto).x.log, None);
    let far = of(["1 ms", "20 ms", "400 ms"], Log::Auto);
    assert_eq!((far.x.log, &*far.x.unit), (Some(0.5), "ms"));
    assert_eq!(of(["1 ms", "20 ms", "400 ms"], Log::None).x.log, None);
    assert_eq!(of(["0 ms", "1 ms", "4 ms"], Log::X).x.log, Some(0.1), "zero has room");
    let both = of(["1 ms", "2 ms", "3 ms"], Log::Both);
    assert!(both.x.log.is_some() && both.y.log.is_some());
    assert!(of(["1 ms", "2 ms", "3 ms"], Log::Y).x.log.is_none());
}

/// Points of schemes at shares of loss.
fn spots(of: &[(&str, &str, f64, f64)]) -> Picture {
    let spot = |(control, loss, goodput, delay): &(&str, &str, f64, f64)| {
        run(&[("control", control), ("loss", loss)], 1, *goodput, *delay)
    };
    let runs = of.iter().map(spot).collect();
    draw(&results(runs), &Request { is_scatter: true, ..Request::default() }).unwrap()
}

#[test]
fn the_front_has_the_points_that_none_beats() {
    let picture = spots(&[
        ("bbr", "0 %", 5.0, 1.0),
        ("cubic", "0 %", 9.0, 3.0),
        ("aimd", "0 %", 8.0, 3.5),
        // As good as CUBIC.
        ("bic", "0 %", 9.0, 3.0),
    ]);
    let lines = &picture.panels[0].lines;
    assert_eq!(labels(lines), ["bbr", "cubic", "aimd", "bic", "Pareto front"]);
    assert_eq!(lines[0].raw, [1.0, 5.0]);
    let cells: Vec<&str> = lines.iter().map(|line| line.cells[1].as_str()).collect();
    assert_eq!(cells, ["1", "1", "0", "1", "3"], "the front has as many as all lines");
    assert_eq!(lines[4].smooth, [1.0, 5.0, 3.0, 5.0, 3.0, 9.0], "stairs");
    assert!(picture.title.ends_with("front bbr, cubic and bic"), "{}", picture.title);
    let axes = (&*picture.x.label, &*picture.y.label);
    assert_eq!(axes, ("mean queueing delay", "goodput after the warm-up"));
}

#[test]
fn differences_that_are_none_put_no_point_on_the_front() {
    // 0.007 ms of 20 ms are no advantage; more goodput is one.
    let of =
        [("cubic", "5 %", 0.54, 0.0), ("sluice", "5 %", 3.35, 0.007), ("bbr", "5 %", 3.4, 20.0)];
    let picture = spots(&of);
    let lines = &picture.panels[0].lines;
    let cells: Vec<&str> = lines.iter().map(|line| line.cells[1].as_str()).collect();
    assert_eq!(labels(lines), ["cubic", "sluice", "bbr", "Pareto front"]);
    assert_eq!(cells, ["0", "1", "1", "2"]);
    assert!(picture.caption.contains("less than 1 % of the largest value do not"));
    // Intervals that overlap: chance.
    let seeds = |control, values: [f64; 3], delay| {
        let runs = (1..).zip(values);
        runs.map(move |(seed, mbps)| run(&[("control", control)], seed, mbps, delay))
            .collect::<Vec<_>>()
    };
    let title = |other: [f64; 3]| {
        let runs = [seeds("bbr", [4.0, 5.0, 6.0], 1.0), seeds("cubic", other, 9.0)].concat();
        draw(&results(runs), &Request { is_scatter: true, ..Request::default() }).unwrap().title
    };
    assert!(title([4.1, 5.1, 6.1]).ends_with("on the Pareto front bbr"));
    assert!(title([14.1, 15.1, 16.1]).ends_with(": no combination is beaten by another in both"));
}

#[test]
fn each_condition_has_a_front_of_its_own() {
    // With loss, everything is worse than without: that is no choice.
    let picture = spots(&[
        ("bbr", "0 %", 5.0, 1.0),
        ("cubic", "0 %", 9.0, 3.0),
        ("bbr", "2 %", 4.0, 2.0),
        ("cubic", "2 %", 1.0, 3.5),
    ]);
    let titles: Vec<&str> = picture.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["loss: 0 %", "loss: 2 %"]);
    assert!(picture.title.ends_with("bbr (2 of 2) and cubic (1 of 2)"), "{}", picture.title);
    assert!(picture.caption.contains("for each condition: loss"), "{}", picture.caption);
    // Without schemes, the settings are the choices.
    let runs = [("10 packets", 5.0, 5.0), ("20 packets", 9.0, 9.0), ("40 packets", 9.0, 10.0)]
        .map(|(queue, goodput, delay)| run(&[("queue", queue)], 1, goodput, delay));
    let request = Request { is_scatter: true, ..Request::default() };
    let picture = draw(&results(runs.to_vec()), &request).unwrap();
    assert_eq!((picture.panels.len(), points(&picture)), (1, 3));
    assert!(picture.title.contains("front queue: 10 packets and queue: 20"), "{}", picture.title);
}

#[test]
fn twelve_schemes_look_different_and_eight_by_style_alone() {
    let names = [
        "aimd", "bbr", "bic", "cctcp", "chopcop", "contug", "copa", "cubic", "dctcp", "icp",
        "mircc", "sluice",
    ];
    let of = |names: &[&str]| {
        let runs = names.iter().map(|name| run(&[("control", name)], 1, 1.0, 1.0)).collect();
        let request = Request { is_scatter: true, ..Request::default() };
        let lines = draw(&results(runs), &request).unwrap().panels.remove(0).lines;
        lines.iter().map(|line| (line.colour, line.dash)).collect::<Vec<_>>()
    };
    let all = of(&names);
    let colours: std::collections::BTreeSet<usize> = all.iter().map(|look| look.0).collect();
    assert_eq!((all.len(), colours.len()), (12, 12), "{all:?}");
    let dashes: std::collections::BTreeSet<usize> =
        of(&names[..8]).iter().map(|look| look.1).collect();
    assert_eq!(dashes.len(), 8);
}

#[test]
fn flows_that_did_not_finish_are_counted_and_make_means_lower_bounds() {
    // A flow takes 4 s in one seed and is not done after 20 s in the other.
    let of = |control, loss, seed, fct_s: Option<f64>| {
        let flow = Flow { control: "cubic".to_owned(), fct_s, ..Flow::default() };
        let settings = [("control", control), ("loss", loss)];
        let run = run(&settings, seed, 1.0, 1.0);
        RunResult { flows: vec![flow], duration_s: 20.0, ..run }
    };
    let runs = vec![
        of("bbr", "0 %", 1, Some(4.0)),
        of("bbr", "0 %", 2, Some(4.0)),
        of("bbr", "2 %", 1, Some(4.0)),
        of("bbr", "2 %", 2, None),
        of("cubic", "0 %", 1, Some(5.0)),
        of("cubic", "0 %", 2, Some(5.0)),
        of("cubic", "2 %", 1, None),
        of("cubic", "2 %", 2, None),
    ];
    let y = Some("completion".to_owned());
    let picture = draw(&results(runs), &Request { y, ..Request::default() }).unwrap();
    let [bbr, cubic] = &*picture.panels[0].lines else { panic!("{:?}", picture.panels) };
    assert_eq!(bbr.raw, [0.0, 4.0, 2.0, 12.0], "the mean of 4 s and at least 20 s");
    assert_eq!(cubic.raw, [0.0, 5.0], "nothing where no flow finished");
    assert!(bbr.cells[1].starts_with("≥ 12.0"), "{:?}", bbr.cells);
    assert_eq!(cubic.cells[1], "-");
    let finished = "5 of 8 flows finished";
    assert!(picture.caption.contains(finished), "{}", picture.caption);
    let named = "with bbr at 2 % 1 of 2 and with cubic at 2 % 0 of 2";
    assert!(picture.caption.contains(named), "{}", picture.caption);
    assert!(picture.title.contains("most with bbr, at least 8.00 s"), "{}", picture.title);
}

#[test]
fn a_page_draws_the_first_panels_with_a_note_and_a_file_has_a_limit() {
    let runs = |panels: usize| {
        let queues = (0..panels).flat_map(|queue| {
            let queue = format!("{queue} packets or so");
            ["0 %", "1 %"].map(|loss| run(&[("queue", &*queue), ("loss", loss)], 1, 1.0, 1.0))
        });
        results(queues.collect())
    };
    let page = Request { is_on_page: true, ..Request::default() };
    let picture = draw(&runs(25), &page).unwrap();
    assert_eq!(picture.panels.len(), 12);
    assert!(picture.caption.contains("the first 12 of 25 panels"), "{}", picture.caption);
    assert_eq!(draw(&runs(25), &Request::default()).unwrap().panels.len(), 25);
    let error = rejected(&runs(40), &Request::default());
    assert_eq!(error, "40 panels would be drawn, 36 are possible");
}

#[test]
fn equal_lines_share_the_title() {
    let mut runs = Vec::new();
    for control in ["bbr", "rcp", "aimd"] {
        for loss in ["0 %", "1 %"] {
            let goodput = if control == "aimd" { 2.0 } else { 7.0 };
            runs.push(run(&[("control", control), ("loss", loss)], 1, goodput, 1.0));
        }
    }
    let title = draw(&results(runs), &Request::default()).unwrap().title;
    assert!(title.contains("most with bbr and rcp, 7.00 Mbit/s"), "{title}");
}

#[test]
fn folders_are_a_field() {
    let of = |goodput| {
        vec![run(&[("loss", "0 %")], 1, goodput, 1.0), run(&[("loss", "1 %")], 1, 2.0, 1.0)]
    };
    let results = Results::of_runs(&[("before", of(1.0)), ("after", of(3.0))]);
    let picture = draw(&results, &Request::default()).unwrap();
    assert_eq!(labels(&picture.panels[0].lines), ["before", "after"]);
}

#[test]
fn a_page_has_pictures_for_numbers_alone() {
    let ids: Vec<String> = pictures(&lossy()).into_iter().map(|picture| picture.id).collect();
    assert_eq!(
        ids,
        ["sweep-settled-goodput", "settled-goodput-and-queue-delay", "sweep-queue-delay"]
    );
    let texts = ["bbr", "cubic"].map(|name| run(&[("control", name)], 1, 1.0, 1.0));
    assert!(pictures(&results(texts.to_vec())).is_empty());
}
