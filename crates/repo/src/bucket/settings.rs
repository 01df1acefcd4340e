//! Credentials, endpoint and region: from the environment, or from a profile.

use rusty_s3::{Credentials, UrlStyle};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// Attempts of a request.
const ATTEMPTS: u32 = 5;
const MOST_ATTEMPTS: u32 = 20;
/// The time without progress after which an attempt ends.
const TIMEOUT: Duration = Duration::from_secs(30);
const MOST_SECONDS: u64 = 3600;

/// The settings of requests to a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The keys that sign requests.
    pub credentials: Credentials,
    /// The server.
    pub endpoint: Url,
    /// Buckets are in the path of a URL, or in its host.
    pub style: UrlStyle,
    /// The region.
    pub region: String,
    /// Attempts of a request.
    pub attempts: u32,
    /// The time without progress after which an attempt ends.
    pub timeout: Duration,
}

impl Settings {
    /// The settings of this user.
    ///
    /// # Errors
    /// They are incomplete or malformed: the reason, and the next step.
    pub fn of_user() -> Result<Settings, String> {
        let profile = std::env::var("AWS_PROFILE").unwrap_or_else(|_| "default".to_owned());
        let folder = std::env::home_dir().unwrap_or_default().join(".aws");
        let credentials = file("AWS_SHARED_CREDENTIALS_FILE", folder.join("credentials"));
        let config = file("AWS_CONFIG_FILE", folder.join("config"));
        let mut values = section(&read(&config), &format!("profile {profile}"));
        if profile == "default" {
            values.extend(section(&read(&config), &profile));
        }
        values.extend(section(&read(&credentials), &profile));
        Settings::from(&values, |name| std::env::var(name).ok())
    }

    /// The settings from the values of a profile, and from the environment, which comes first.
    fn from(
        profile: &BTreeMap<String, String>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Settings, String> {
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let own = variable("AWS_ACCESS_KEY_ID").zip(variable("AWS_SECRET_ACCESS_KEY"));
        let ((key, secret), token) = match own {
            Some(own) => (own, variable("AWS_SESSION_TOKEN")),
            None => {
                let key = profile.get("aws_access_key_id").cloned();
                let pair = key.zip(profile.get("aws_secret_access_key").cloned());
                (pair.ok_or(NO_CREDENTIALS)?, profile.get("aws_session_token").cloned())
            }
        };
        let credentials = match token {
            Some(token) => Credentials::new_with_token(key, secret, token),
            None => Credentials::new(key, secret),
        };
        let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
        let region = region
            .or_else(|| profile.get("region").cloned())
            .unwrap_or_else(|| "us-east-1".to_owned());
        let own = variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL"));
        let own = own.or_else(|| profile.get("endpoint_url").cloned());
        let style = if own.is_some() { UrlStyle::Path } else { UrlStyle::VirtualHost };
        let text = own.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let endpoint = Url::parse(&text).ok().filter(|url| {
            matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none()
        });
        let endpoint = endpoint.ok_or_else(|| {
            format!("{text} is no URL of a server; write AWS_ENDPOINT_URL like https://s3.example")
        })?;
        let attempts = number(&variable, "AWS_MAX_ATTEMPTS", MOST_ATTEMPTS.into())?;
        let timeout = number(&variable, "WEIR_S3_TIMEOUT", MOST_SECONDS)?;
        Ok(Settings {
            credentials,
            endpoint,
            style,
            region,
            attempts: attempts.map_or(ATTEMPTS, |attempts| attempts as u32),
            timeout: timeout.map_or(TIMEOUT, Duration::from_secs),
        })
    }
}

const NO_CREDENTIALS: &str = "there are no credentials; set AWS_ACCESS_KEY_ID and \
    AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile that has them";

/// A number in the environment, from 1 to `most`.
fn number(
    variable: &dyn Fn(&str) -> Option<String>,
    name: &str,
    most: u64,
) -> Result<Option<u64>, String> {
    let Some(text) = variable(name) else { return Ok(None) };
    match text.trim().parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(Some(number)),
        _ => Err(format!("{name} is `{text}`; set it to a whole number from 1 to {most}")),
    }
}

fn file(variable: &str, usual: PathBuf) -> PathBuf {
    std::env::var_os(variable).map_or(usual, PathBuf::from)
}

/// The text of a file; empty if it cannot be read.
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The values of a section of a file with profiles.
fn section(text: &str, name: &str) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let mut is_here = false;
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            is_here = header.trim() == name;
        } else if let Some((key, value)) = line.split_once('=')
            && is_here
            && !line.starts_with(['#', ';'])
        {
            values.insert(key.trim().to_owned(), value.trim().to_owned());
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[default]\naws_access_key_id = a\naws_secret_access_key=b\n\n\
        # a comment = none\n[profile other]\nregion = eu-west-1\n";

    fn of(
        profile: &BTreeMap<String, String>,
        variables: &[(&str, &str)],
    ) -> Result<Settings, String> {
        Settings::from(profile, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_comes_before_a_profile() {
        let profile = section(FILE, "default");
        let found = of(&profile, &[]).unwrap();
        assert_eq!((found.credentials.key(), found.credentials.secret()), ("a", "b"));
        assert_eq!(found.endpoint.as_str(), "https://s3.us-east-1.amazonaws.com/");
        let own = [
            ("AWS_ACCESS_KEY_ID", "c"),
            ("AWS_SECRET_ACCESS_KEY", "d"),
            ("AWS_SESSION_TOKEN", "e"),
            ("AWS_ENDPOINT_URL", "http://localhost:9000"),
            ("AWS_MAX_ATTEMPTS", "2"),
        ];
        let found = of(&profile, &own).unwrap();
        assert_eq!((found.credentials.key(), found.credentials.token()), ("c", Some("e")));
        assert_eq!((found.endpoint.as_str(), found.attempts), ("http://localhost:9000/", 2));
        let other = section(FILE, "profile other");
        assert_eq!(of(&other, &own[..2]).unwrap().region, "eu-west-1");
    }

    #[test]
    fn incomplete_settings_are_named() {
        let none = BTreeMap::new();
        assert!(of(&none, &[]).unwrap_err().contains("set AWS_ACCESS_KEY_ID"));
        let keys = [("AWS_ACCESS_KEY_ID", "c"), ("AWS_SECRET_ACCESS_KEY", "d")];
        for (name, value) in [
            ("AWS_ENDPOINT_URL", "localhost"),
            ("AWS_MAX_ATTEMPTS", "0"),
            ("WEIR_S3_TIMEOUT", "soon"),
        ] {
            let why = of(&none, &[keys[0], keys[1], (name, value)]).unwrap_err();
            assert!(why.contains(name), "{why}");
        }
    }
}
