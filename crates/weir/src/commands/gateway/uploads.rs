//! The uploads of a gateway: its options, its store, and the thread that serves the store.

use crate::cli::GatewayArgs;
use crate::commands::repo::{Publisher, StoreKeeper};
use crate::exit::{Failure, Kind};
use crate::gateway::{Log, Uploads};
use crate::output;
use crate::signals::Stop;
use net::client::Address;
use packet::Name;
use packet::tlv::types::GENERIC;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use weir::http::ask::is_scoped;
use weir::http::put::Token;

/// The most bytes of a file with a token.
const LONGEST: u64 = 4096;

/// Checks the options about uploads, and reads the token.
pub fn check(args: &GatewayArgs) -> Result<Option<Token>, Failure> {
    let upload = &args.upload;
    let token = upload.put_token.as_deref().map(read).transpose()?;
    for prefix in &upload.put {
        check_prefix(prefix, &args.prefix)?;
    }
    if let (true, Some(store)) = (upload.put.is_empty(), &upload.store.store) {
        let what =
            format!("--store {} is for uploads, and nothing may be uploaded", store.display());
        return Err(Failure::new(Kind::Usage, what)
            .then("allow it with --put, or serve a store with `weir repo run`"));
    }
    let is_local = args.listen.ip().to_canonical().is_loopback();
    if !upload.put.is_empty() && !is_local && token.is_none() {
        let what = format!("--put needs a token at {}, which other hosts reach", args.listen);
        return Err(Failure::new(Kind::Usage, what)
            .then("name its file with --put-token, or listen on 127.0.0.1"));
    }
    if token.is_some() && !is_local && args.web.tls_cert.is_none() && !args.quiet {
        output::note(
            "the token of uploads crosses the network unencrypted; --tls-cert encrypts it",
        );
    }
    Ok(token)
}

/// Checks that uploads below `prefix` can be stored, and are served.
fn check_prefix(prefix: &Name, served: &[Name]) -> Result<(), Failure> {
    let (why, next) = if is_scoped(prefix) {
        let why = "names below /localhost and /localhop are for the programs of one host";
        (why, "choose another prefix")
    } else if prefix.as_ref().components().any(|component| component.typ() != GENERIC) {
        ("it has a reserved component, such as a version", "choose another prefix")
    } else if prefix.is_empty() {
        ("it has no component", "name a prefix, such as /example/uploads")
    } else if !served.iter().any(|served| prefix.as_ref().starts_with(served.as_ref())) {
        ("the gateway does not serve it", "serve it with --prefix, too")
    } else {
        return Ok(());
    };
    let what = format!("--put {prefix} cannot be used: {why}");
    Err(Failure::new(Kind::Usage, what).then(next))
}

fn read(path: &Path) -> Result<Token, Failure> {
    token_in(path).map_err(|why| {
        let shown = path.display();
        Failure::new(Kind::File, format!("cannot use the token in {shown}: {why}"))
            .then("write one line of at least 16 letters and digits, as of `openssl rand -hex 32`")
    })
}

fn token_in(path: &Path) -> Result<Token, String> {
    let mut text = String::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > LONGEST {
        return Err(format!("it has more than {LONGEST} bytes"));
    }
    Ok(Token::read(&text)?)
}

/// Opens the store of uploads, if there may be any.
pub fn open(
    args: &GatewayArgs,
    token: Option<Token>,
    stop: &Stop,
) -> Result<(Option<Arc<StoreKeeper>>, Option<Uploads>), Failure> {
    let upload = &args.upload;
    if upload.put.is_empty() {
        return Ok((None, None));
    }
    let (store, remarks) = StoreKeeper::new(upload, stop.clone())?;
    if !args.quiet {
        remarks.iter().for_each(|remark| output::note(remark));
    }
    let uploads = Uploads::new(store.clone(), upload.put.clone(), token, upload.put_limit);
    Ok((Some(store), Some(uploads)))
}

/// Starts the thread that serves the store by name, and waits for its registrations.
pub fn publish(
    address: &Address,
    keeper: Arc<StoreKeeper>,
    quiet: bool,
    log: &Log,
) -> Result<JoinHandle<()>, Failure> {
    let (ready, wait) = channel();
    let publisher = Publisher { address: address.clone(), keeper, quiet };
    let (log, complaints) = (log.clone(), log.clone());
    let thread = std::thread::Builder::new().name("store".to_owned());
    let thread = thread.spawn(move || {
        let begun = ready.clone();
        let ended = publisher.run(&|| drop(begun.send(Ok(()))), move |what| complaints.note(what));
        if let Err(failure) = ended
            && let Err(unsent) = ready.send(Err(failure))
            && let Err(failure) = unsent.0
        {
            let next = "restart the gateway when that is over";
            log.note(format!("the store is not served any more: {failure}; {next}"));
        }
    });
    let thread = thread.map_err(|error| Failure::new(Kind::Failed, error))?;
    match wait.recv() {
        Ok(begun) => begun?,
        Err(_) => return Err(Failure::new(Kind::Interrupted, "interrupted")),
    }
    Ok(thread)
}
