//! Rights, trust and answers, from the configuration to management.

use super::accounts;
use super::error::DaemonError;
use crate::config::{self, Accept, Config};
use crate::management::authority::{AcceptedSignature, Rule};
use crate::management::{self, Management};
use crate::trust;
use forwarder::Forwarder;
use security::{Certificate, Validator};
use std::path::Path;
use std::sync::Arc;

/// The permissions of a configuration, with the accounts, certificates and rules that it names.
pub(super) struct Permissions {
    rules: Vec<Rule>,
    announcers: Option<Arc<Validator>>,
}

/// Looks up accounts and reads files; changes nothing.
///
/// # Errors
/// There is no such user or group, or a file cannot be used.
pub(super) fn look_up(config: &Config) -> Result<Permissions, DaemonError> {
    let rules = config.authorize.iter().map(rule).collect::<Result<_, _>>()?;
    let announcers = config.announcements.trust.as_deref().map(trust::load_either).transpose()?;
    Ok(Permissions { rules, announcers: announcers.map(Arc::new) })
}

/// Applies the permissions of the configuration to management.
///
/// # Errors
/// As [`look_up`]; then nothing has changed. Or there is no room for a route.
pub(super) fn grant(
    forwarder: &mut Forwarder,
    management: &mut Management,
    config: &Config,
) -> Result<(), DaemonError> {
    let Permissions { rules, announcers } = look_up(config)?;
    config.warnings().iter().for_each(|warning| tracing::warn!("{warning}"));
    management.set_owner(rustix::process::geteuid().as_raw());
    management.set_rules(rules);
    management.set_announcers(announcers);
    management.set_accept_announcements(config.announcements.accept != Accept::Off);
    management.set_routable(&config.routable);
    let (face, prefix) = (management.face(), management::remote_prefix());
    if !management.takes_remote_commands() {
        forwarder.remove_route(face, prefix.as_ref());
        return Ok(());
    }
    let added = forwarder.add_route(face, prefix.as_ref(), 0);
    added.map(drop).map_err(|e| DaemonError::Table { prefix, why: e.to_string() })
}

/// A rule of the configuration, with its certificates.
fn rule(written: &config::Authorize) -> Result<Rule, DaemonError> {
    let who = match (&written.key, &written.trust) {
        (Some(path), _) => AcceptedSignature::Key(Box::new(certificate(path)?)),
        (None, Some(path)) => AcceptedSignature::Trusted(Arc::new(trust::load_either(path)?)),
        (None, None) => AcceptedSignature::Any,
    };
    Ok(Rule {
        from: written.from,
        modules: written.modules.clone(),
        prefix: written.prefix.clone(),
        who,
        users: accounts::users(&written.user, &written.group)?,
        is_bounded: false,
        skew: written.skew,
    })
}

fn certificate(path: &Path) -> Result<Certificate, DaemonError> {
    let read = match crate::bounded::text(path) {
        Ok(text) => Certificate::from_base64(&text).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    read.map_err(|why| DaemonError::Certificate { path: path.to_owned(), why })
}
