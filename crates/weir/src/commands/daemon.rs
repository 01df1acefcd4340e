//! `weir daemon`

use crate::cli::DaemonArgs;
use crate::exit::{Failure, Kind};
use crate::output;
use net::config::json_schema;
use router::service::{Service, ServiceError};

/// Runs the forwarder, checks its configuration, or prints the schema of configurations.
pub fn run(args: &DaemonArgs) -> Result<(), Failure> {
    if args.schema {
        return output::result(json_schema::text().trim_end());
    }
    let service = Service::new("weir daemon", args.config.clone());
    if !args.check {
        return Ok(service.run()?);
    }
    let report = service.check()?;
    report.warnings.iter().for_each(|text| output::note(&format!("weir: warning: {text}")));
    output::result(&report.summary)
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Failure {
        let kind = match error {
            ServiceError::Configuration(_) => Kind::Usage,
            ServiceError::Daemon(_) => Kind::Failed,
        };
        Failure::new(kind, error)
    }
}
