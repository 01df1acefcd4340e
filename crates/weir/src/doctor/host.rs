//! The kernel: its limits, its functions for UDP, and its network interfaces.

use super::check::{Check, Verdict};
use super::system::System;
use crate::output::counted;
use control::Size;
use net::config::Config;
use net::socket::udp::Offloads;
use rustix::process::{Resource, getrlimit};

/// The kernel's default of the send buffer, which the daemon leaves as it is (socket(7)).
const SEND_BUFFER: u64 = 212_992;
/// The descriptors without which the daemon and the tools do not start reliably.
const LEAST_FILES: u64 = 64;
/// The descriptors that the daemon uses for itself: listeners, the poll, timers, files.
const OWN_FILES: usize = 64;
/// `weir share` needs a watch for each folder.
const WATCHES: u64 = 65_536;
/// Each `weir share` needs an instance; other programs of the same user take most of them.
const INSTANCES: u64 = 128;
/// The kernel's MTU of loopback.
const LOOPBACK_MTU: u64 = 65_536;
/// The least MTU of IPv6 (RFC 8200, section 5).
const MTU: u64 = 1280;
/// The daemon takes a route below this MTU for broken (Linux's `min_pmtu`).
const LEAST_MTU: u64 = 552;

/// Reads and judges everything.
pub fn examine(system: &System) -> Vec<Check> {
    let config = Config::default();
    let limit = getrlimit(Resource::Nofile);
    // On-demand faces are over UDP, over streams, and made by commands.
    let places = config.application.max + 3 * config.on_demand.max + OWN_FILES;
    let mut checks = vec![
        receive_buffer(system.number("proc/sys/net/core/rmem_max"), config.listen.receive_buffer),
        send_buffer(system.number("proc/sys/net/core/wmem_default")),
        // No limit is `None`.
        open_files(limit.current, limit.maximum, places as u64),
        inotify("inotify-watches", "max_user_watches", system, WATCHES),
        inotify("inotify-instances", "max_user_instances", system, INSTANCES),
    ];
    checks.push(ethernet(net::socket::ether::permitted()));
    checks.extend(offloads(Offloads::detect().map_err(|error| error.to_string())));
    match net::interface::in_use() {
        Ok(names) => checks.extend(names.iter().map(|name| {
            let mtu = system.number(&format!("sys/class/net/{name}/mtu"));
            judge_mtu(name, mtu)
        })),
        Err(error) => {
            checks.push(Check::unchecked("mtu", error, format!("at least {MTU} bytes")));
        }
    }
    checks
}

/// The largest receive buffer that a program may request.
fn receive_buffer(found: Result<u64, String>, wanted: Size) -> Check {
    const NAME: &str = "receive-buffer";
    let bytes = match found {
        Ok(bytes) => bytes,
        Err(why) => return Check::unchecked(NAME, why, format!("at least {wanted}")),
    };
    let check = Check::good(NAME, Size(bytes), format!("at least {wanted}"));
    if bytes >= wanted.0 {
        return check;
    }
    check.but(Verdict::Advice, format!("sysctl --write net.core.rmem_max={}", wanted.0))
}

/// The send buffer of new sockets.
fn send_buffer(found: Result<u64, String>) -> Check {
    const NAME: &str = "send-buffer";
    let wanted = format!("at least {}", Size(SEND_BUFFER));
    let bytes = match found {
        Ok(bytes) => bytes,
        Err(why) => return Check::unchecked(NAME, why, wanted),
    };
    let check = Check::good(NAME, Size(bytes), wanted);
    if bytes >= SEND_BUFFER {
        return check;
    }
    let change = format!(
        "sysctl --write net.core.wmem_max={SEND_BUFFER} net.core.wmem_default={SEND_BUFFER}"
    );
    check.but(Verdict::Advice, change)
}

/// The open files of a process: `soft` now, `hard` at most; `None` is no limit.
fn open_files(soft: Option<u64>, hard: Option<u64>, wanted: u64) -> Check {
    let found = soft.map_or_else(|| "unlimited".to_owned(), |soft| soft.to_string());
    let check = Check::good("open-files", found, format!("at least {wanted}"));
    let soft = soft.unwrap_or(u64::MAX);
    if soft >= wanted {
        return check;
    }
    let verdict = if soft < LEAST_FILES { Verdict::Wrong } else { Verdict::Advice };
    let own = format!("ulimit -n {wanted}");
    let change = match hard {
        Some(hard) if hard < wanted => format!("{own} as root"),
        _ => own,
    };
    check.but(verdict, format!("{change}; for a service of systemd, LimitNOFILE={wanted}"))
}

fn inotify(name: &'static str, file: &str, system: &System, wanted: u64) -> Check {
    let found = system.number(&format!("proc/sys/fs/inotify/{file}"));
    judge_inotify(name, file, found, wanted)
}

/// A limit of inotify(7). Without any, `weir share` cannot watch a folder.
fn judge_inotify(name: &'static str, file: &str, found: Result<u64, String>, wanted: u64) -> Check {
    let text = format!("at least {wanted}");
    let found = match found {
        Ok(found) => found,
        Err(why) => return Check::unchecked(name, why, text),
    };
    let check = Check::good(name, found, text);
    if found >= wanted {
        return check;
    }
    let verdict = if found == 0 { Verdict::Wrong } else { Verdict::Advice };
    check.but(verdict, format!("sysctl --write fs.inotify.{file}={wanted}"))
}

/// The right to send and receive Ethernet frames. Few daemons need it.
fn ethernet(permitted: std::io::Result<()>) -> Check {
    let check = Check::good("ethernet", "permitted", "CAP_NET_RAW, for faces over Ethernet alone");
    let Err(error) = permitted else { return check };
    let found = match error.kind() {
        std::io::ErrorKind::PermissionDenied => "no CAP_NET_RAW".to_owned(),
        _ => error.to_string(),
    };
    Check { found, ..check }.but(
        Verdict::Advice,
        "for faces over Ethernet, write AmbientCapabilities=CAP_NET_RAW and \
         CapabilityBoundingSet=CAP_NET_RAW into the daemon's unit of systemd, and add AF_PACKET \
         to RestrictAddressFamilies=; without such faces, nothing is to be done",
    )
}

const SEVERAL_DATAGRAMS: &str = "more than 1 datagram per call";

/// The kernel's functions for several datagrams in a call.
fn offloads(found: Result<Offloads, String>) -> [Check; 2] {
    const NAMES: [&str; 2] = ["udp-gso", "udp-gro"];
    match found {
        Ok(found) => {
            [offload(NAMES[0], found.sent, "4.18"), offload(NAMES[1], found.joined, "5.0")]
        }
        Err(why) => NAMES.map(|name| Check::unchecked(name, &why, SEVERAL_DATAGRAMS)),
    }
}

/// `since` is the version of Linux that has the function.
fn offload(name: &'static str, segments: usize, since: &str) -> Check {
    let found = format!("{} per call", counted(segments, "datagram"));
    let check = Check::good(name, found, SEVERAL_DATAGRAMS);
    if segments > 1 {
        return check;
    }
    check.but(Verdict::Advice, format!("run Linux {since} or newer, not an emulation of it"))
}

/// The MTU of an interface in use.
fn judge_mtu(name: &str, found: Result<u64, String>) -> Check {
    let is_loopback = name == "lo";
    let wanted = if is_loopback { LOOPBACK_MTU } else { MTU };
    let text = format!("at least {wanted} bytes");
    let mtu = match found {
        Ok(mtu) => mtu,
        Err(why) => return Check::unchecked("mtu", why, text).of(name),
    };
    let check = Check::good("mtu", format!("{mtu} bytes"), text).of(name);
    if mtu >= wanted {
        return check;
    }
    let verdict = if mtu < LEAST_MTU { Verdict::Wrong } else { Verdict::Advice };
    let mut change = format!("ip link set dev {name} mtu {wanted}");
    if !is_loopback {
        change += ", if all hosts on the link support it";
    }
    check.but(verdict, change)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing() -> Result<u64, String> {
        Err("cannot read it".to_owned())
    }

    fn change(check: &Check) -> &str {
        check.change.as_deref().unwrap_or_default()
    }

    #[test]
    fn a_receive_buffer_below_the_daemons_is_raised() {
        let wanted = Size(8_000_000);
        assert_eq!(receive_buffer(Ok(8_000_000), wanted).result, Verdict::Good);
        let small = receive_buffer(Ok(212_992), wanted);
        assert_eq!((small.result, &*small.found), (Verdict::Advice, "213 kB"));
        assert_eq!(change(&small), "sysctl --write net.core.rmem_max=8000000");
        let unknown = receive_buffer(missing(), wanted);
        assert_eq!((unknown.result, unknown.change), (Verdict::Unchecked, None));
        // The daemon requests its default configuration.
        assert_eq!(Config::default().listen.receive_buffer, wanted);
    }

    #[test]
    fn the_send_buffer_is_at_least_the_kernels_default() {
        assert_eq!(send_buffer(Ok(212_992)).result, Verdict::Good);
        assert_eq!(send_buffer(Ok(4_608)).result, Verdict::Advice);
        assert_eq!(send_buffer(missing()).result, Verdict::Unchecked);
    }

    #[test]
    fn few_open_files_are_advice_and_too_few_are_wrong() {
        assert_eq!(open_files(None, None, 4096).result, Verdict::Good);
        assert_eq!(open_files(Some(4096), Some(4096), 4096).result, Verdict::Good);
        let few = open_files(Some(1024), Some(524_288), 4096);
        assert_eq!(few.result, Verdict::Advice);
        assert_eq!(change(&few), "ulimit -n 4096; for a service of systemd, LimitNOFILE=4096");
        assert!(change(&open_files(Some(64), Some(1024), 4096)).starts_with("ulimit -n 4096 as r"));
        assert_eq!(open_files(Some(63), Some(63), 4096).result, Verdict::Wrong);
    }

    #[test]
    fn without_watches_nothing_is_shared() {
        let judge = |found| judge_inotify("inotify-watches", "max_user_watches", found, 65_536);
        assert_eq!(judge(Ok(65_536)).result, Verdict::Good);
        assert_eq!(change(&judge(Ok(8192))), "sysctl --write fs.inotify.max_user_watches=65536");
        assert_eq!(judge(Ok(8192)).result, Verdict::Advice);
        assert_eq!(judge(Ok(0)).result, Verdict::Wrong);
        assert_eq!(judge(missing()).result, Verdict::Unchecked);
    }

    #[test]
    fn a_kernel_with_one_datagram_per_call_is_advised_against() {
        let verdicts = |sent, joined| {
            let checks = offloads(Ok(Offloads { sent, joined }));
            checks.map(|check| check.result)
        };
        assert_eq!(verdicts(64, 64), [Verdict::Good, Verdict::Good]);
        assert_eq!(verdicts(64, 1), [Verdict::Good, Verdict::Advice]);
        assert_eq!(verdicts(1, 64), [Verdict::Advice, Verdict::Good]);
        let unknown = offloads(Err("no socket".to_owned()));
        assert!(unknown.iter().all(|check| check.result == Verdict::Unchecked));
    }

    #[test]
    fn an_mtu_below_that_of_ipv6_is_advice_and_one_below_linuxs_least_is_wrong() {
        let verdict = |name, mtu| judge_mtu(name, Ok(mtu)).result;
        assert_eq!(verdict("eth0", 1500), Verdict::Good);
        assert_eq!(verdict("wg0", 1280), Verdict::Good);
        assert_eq!(verdict("wg0", 1279), Verdict::Advice);
        assert_eq!(verdict("eth0", 551), Verdict::Wrong);
        assert_eq!(verdict("lo", 65_536), Verdict::Good);
        let loopback = judge_mtu("lo", Ok(1500));
        assert_eq!(change(&loopback), "ip link set dev lo mtu 65536");
        let unknown = judge_mtu("eth0", missing());
        assert_eq!(unknown.subject.as_deref(), Some("eth0"));
        assert_eq!(unknown.result, Verdict::Unchecked);
    }

    #[test]
    fn a_container_without_proc_and_sys_is_examined_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let checks = examine(&System::below(folder.path()));
        for name in ["receive-buffer", "send-buffer", "inotify-watches", "mtu"] {
            let check = checks.iter().find(|check| check.check == name).unwrap();
            assert_eq!(check.result, Verdict::Unchecked, "{check:?}");
        }
    }

    #[test]
    fn the_right_to_ethernet_frames_is_advice_where_it_is_missing() {
        assert_eq!(ethernet(Ok(())).result, Verdict::Good);
        let missing = ethernet(Err(std::io::ErrorKind::PermissionDenied.into()));
        assert_eq!((missing.result, missing.found.as_str()), (Verdict::Advice, "no CAP_NET_RAW"));
        assert!(missing.change.unwrap().contains("AmbientCapabilities=CAP_NET_RAW"));
    }
}
