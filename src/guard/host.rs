//! Who stands at the other end of an address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::OnceLock;

use super::known_hosts::{
    CODE_HOSTS, HOSTING, INSTALLERS, OWNERS, REGISTRIES, SERVICES, THROWAWAY,
};

/// What a host is known for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Host {
    /// This machine, or the network behind it.
    Local,
    /// A program's own, published way to be installed.
    Installer,
    /// A registry of packages, or a distribution.
    Registry,
    /// A service many programs talk to.
    Service,
    /// Hosts code of anybody.
    Code,
    /// Belongs, by its name, to what the skill is about.
    Related,
    /// A name that is kept for examples (RFC 2606): nobody can own it.
    Example,
    /// Nothing is known about it.
    Unknown,
    /// Anybody may put a text, a form or a tunnel there without a name.
    Throwaway,
    /// A bare address.
    Address,
}

/// A host found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub name: String,
    pub kind: Host,
}

/// All hosts of addresses in a lower-case text. `topic` holds the words the skill is named by.
pub(super) fn hosts(text: &str, topic: &[String]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(mark) = text[at..].find("://") {
        let start = at + mark + 3;
        let length = text[start..]
            .bytes()
            .take(300)
            .take_while(|byte| is_address(*byte))
            .count();
        let mut end = start + length;
        // A long address may be cut within a letter.
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        if let Some(host) = classify(&text[start..end], topic) {
            found.push(host);
        }
        at = end.max(start);
    }
    found
}

fn is_address(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!&+,;=%{}$*".contains(&byte) || byte >= 0x80
}

/// The host of an address without its scheme.
fn classify(address: &str, topic: &[String]) -> Option<Found> {
    let authority_end = address.find(['/', '?', '#']).unwrap_or(address.len());
    let authority = &address[..authority_end];
    let path = &address[authority_end..];
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.split(':').next().unwrap_or(host),
    };
    let name = name.trim_end_matches(['.', ',', ';', '!']);
    if name.is_empty() || name.starts_with(['$', '{', '<', '%', '*']) {
        return None;
    }
    // A name before `@` that looks like a host is there to be read as one.
    let is_disguised = authority.contains('@')
        && authority
            .split('@')
            .next()
            .is_some_and(|user| user.contains('.'));
    let kind = if is_disguised {
        Host::Throwaway
    } else {
        kind(name, path, topic)
    };
    Some(Found {
        name: name.to_owned(),
        kind,
    })
}

fn kind(name: &str, path: &str, topic: &[String]) -> Host {
    if let Some(address) = address(name) {
        return if is_local(address) {
            Host::Local
        } else {
            Host::Address
        };
    }
    if name == "localhost"
        || name.ends_with(".localhost")
        || name.ends_with(".local")
        || name == "host.docker.internal"
        || !name.contains('.')
    {
        return Host::Local;
    }
    let known = Known::get().of(name);
    if known == Some(Host::Throwaway) || name.starts_with("bit.ly.") {
        return Host::Throwaway;
    }
    if Known::get().is_installer(name, path) {
        return Host::Installer;
    }
    if known == Some(Host::Registry) {
        return Host::Registry;
    }
    // Where a message goes to a chat that anybody can open.
    let is_chat = (name == "discord.com" || name == "discordapp.com")
        && path.starts_with("/api/webhooks")
        || name == "api.telegram.org";
    if is_chat {
        return Host::Throwaway;
    }
    let is_bucket =
        name.ends_with("amazonaws.com") && (name.starts_with("s3") || name.contains(".s3"));
    if is_bucket {
        return Host::Code;
    }
    if name.ends_with("windows.net") && known != Some(Host::Code) {
        return Host::Service;
    }
    match known {
        Some(Host::Code) if name == "github.com" && is_known_owner(path) => Host::Service,
        Some(host) => host,
        None if is_related(name, topic) => Host::Related,
        None => Host::Unknown,
    }
}

/// Whether a path on GitHub begins with an owner that is known.
fn is_known_owner(path: &str) -> bool {
    let owner = path.trim_start_matches('/').split('/').next();
    owner.is_some_and(|owner| OWNERS.contains(&owner))
}

/// The hosts that are known, to be asked by name.
struct Known {
    hosts: HashMap<&'static str, Host>,
    /// For a host the paths of its installers.
    installers: HashMap<&'static str, Vec<&'static str>>,
}

impl Known {
    fn get() -> &'static Self {
        static KNOWN: OnceLock<Known> = OnceLock::new();
        KNOWN.get_or_init(Self::new)
    }

    fn new() -> Self {
        const EXAMPLES: &[&str] = &["example.com", "example.org", "example.net"];
        let mut hosts = HashMap::new();
        // Where a host stands in two lists the first counts.
        for (list, host) in [
            (THROWAWAY, Host::Throwaway),
            (REGISTRIES, Host::Registry),
            (HOSTING, Host::Code),
            (CODE_HOSTS, Host::Code),
            (SERVICES, Host::Service),
            (&["amazonaws.com", "discord.com"], Host::Service),
            (EXAMPLES, Host::Example),
        ] {
            for name in list {
                hosts.entry(*name).or_insert(host);
            }
        }
        let mut installers: HashMap<&str, Vec<&str>> = HashMap::new();
        for known in INSTALLERS {
            let (host, rest) = known.split_at(known.find('/').unwrap_or(known.len()));
            let host = host.strip_prefix("www.").unwrap_or(host);
            installers.entry(host).or_default().push(rest);
        }
        Self { hosts, installers }
    }

    /// What the host is known for, or a domain it is in: the worst of them.
    fn of(&self, name: &str) -> Option<Host> {
        let domains = std::iter::successors(Some(name), |name| {
            name.split_once('.').map(|(_, domain)| domain)
        });
        let order = |host: &Host| match host {
            Host::Throwaway => 5,
            Host::Registry => 4,
            Host::Code => 3,
            Host::Service => 2,
            _ => 1,
        };
        domains
            .filter_map(|domain| self.hosts.get(domain).copied())
            .max_by_key(order)
    }

    fn is_installer(&self, name: &str, path: &str) -> bool {
        self.installers
            .get(name.strip_prefix("www.").unwrap_or(name))
            .is_some_and(|paths| paths.iter().any(|rest| path.starts_with(rest)))
    }
}

/// The hosts that a command names without a scheme: `curl -o a cdn.example.org/a`, `ssh x@203.0.113.9`.
pub(super) fn bare_hosts(line: &str, topic: &[String]) -> Vec<Found> {
    let is_command = [
        "curl ", "wget ", "ssh ", "scp ", "aria2c ", "http ", "irm ", "iwr ", "nc ", "ncat ",
        "ftp ",
    ]
    .iter()
    .any(|command| line.contains(command));
    if !is_command {
        return Vec::new();
    }
    let words = line
        .split(|letter: char| letter.is_whitespace() || "\"'()|;<>`".contains(letter))
        .take(64);
    let hosts = words.filter_map(|word| {
        let word = word.rsplit('@').next().unwrap_or(word);
        let host = word.split(['/', ':']).next().unwrap_or("");
        let last = host.rsplit('.').next().unwrap_or("");
        let is_file = matches!(
            last,
            "sh" | "py"
                | "js"
                | "json"
                | "txt"
                | "md"
                | "gz"
                | "zip"
                | "exe"
                | "yaml"
                | "yml"
                | "tgz"
                | "html"
                | "ps1"
                | "conf"
                | "pem"
                | "key"
                | "sql"
                | "log"
                | "bin"
        );
        let is_host = host.contains('.')
            && !word.starts_with(['-', '.', '/', '~', '$'])
            && host
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
        let is_name = last.len() >= 2
            && last.bytes().all(|byte| byte.is_ascii_alphabetic())
            && (!is_file || word.contains('/'));
        let is_address =
            last.bytes().all(|byte| byte.is_ascii_digit()) && host.split('.').count() == 4;
        (is_host && (is_name || is_address))
            .then(|| classify(word, topic))
            .flatten()
    });
    hosts.collect()
}

/// An address, also in one number, in octal or in hexadecimal.
fn address(name: &str) -> Option<IpAddr> {
    if let Ok(address) = name.parse() {
        return Some(address);
    }
    let number = |text: &str| match (text.strip_prefix("0x"), text.strip_prefix('0')) {
        (Some(digits), _) => u32::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) if !digits.is_empty() => u32::from_str_radix(digits, 8).ok(),
        _ => text.parse().ok(),
    };
    let parts: Vec<u32> = name.split('.').map(number).collect::<Option<_>>()?;
    match parts[..] {
        [whole] => Some(IpAddr::from(whole.to_be_bytes())),
        [a, b, c, d] => {
            let byte = |part: u32| u8::try_from(part).ok();
            Some(IpAddr::from([byte(a)?, byte(b)?, byte(c)?, byte(d)?]))
        }
        _ => None,
    }
}

fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_loopback()
                || address.is_private()
                || address.is_link_local()
                || address.is_unspecified()
        }
        IpAddr::V6(address) => address.is_loopback() || address.is_unspecified(),
    }
}

/// Words that many hosts and many skills are named by: they tie nothing together.
const COMMON: [&str; 30] = [
    "tool",
    "tools",
    "skill",
    "skills",
    "agent",
    "agents",
    "code",
    "data",
    "file",
    "files",
    "docs",
    "help",
    "helper",
    "test",
    "example",
    "setup",
    "install",
    "cloud",
    "download",
    "downloads",
    "static",
    "assets",
    "client",
    "server",
    "host",
    "mail",
    "site",
    "work",
    "open",
    "auto",
];

/// Whether a label of the host is a word the skill is named by.
fn is_related(name: &str, topic: &[String]) -> bool {
    let labels: Vec<&str> = name.split('.').collect();
    let own = &labels[..labels.len().saturating_sub(1)];
    own.iter().any(|label| {
        topic.iter().any(|word| {
            word.len() >= 4
                && !COMMON.contains(&word.as_str())
                && (*label == word
                    || label.trim_start_matches("get").trim_end_matches("app") == word)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Host {
        hosts(text, &["daytona".to_owned()])[0].kind
    }

    #[test]
    fn hosts_are_told_apart() {
        assert_eq!(one("http://127.0.0.1:80/x"), Host::Local);
        assert_eq!(one("http://203.0.113.7/x"), Host::Address);
        assert_eq!(one("http://3405803783/x"), Host::Address);
        assert_eq!(one("https://sh.rustup.rs"), Host::Installer);
        assert_eq!(
            one("https://raw.githubusercontent.com/homebrew/install/head/install.sh"),
            Host::Installer
        );
        assert_eq!(
            one("https://raw.githubusercontent.com/someone/x/install.sh"),
            Host::Code
        );
        assert_eq!(one("https://files.pythonhosted.org/x"), Host::Registry);
        assert_eq!(one("https://rentry.co/x"), Host::Throwaway);
        assert_eq!(one("https://download.daytona.io/x"), Host::Related);
        assert_eq!(one("https://cdn.example.invalid/x"), Host::Unknown);
        assert_eq!(one("https://cdn.example.com/x"), Host::Example);
        assert_eq!(
            one("https://github.com@cdn.example.invalid/x"),
            Host::Throwaway
        );
        assert_eq!(one("https://notgithub.com/x"), Host::Unknown);
        assert_eq!(one("https://sh.rustup.rs.example.invalid/x"), Host::Unknown);
        assert!(hosts("https://$host/x", &[]).is_empty());
        let long = format!("https://a.b/{}", "é".repeat(200));
        assert_eq!(hosts(&long, &[]).len(), 1);
        let long = format!("https://a.bc/{}", "é".repeat(200));
        assert_eq!(hosts(&long, &[]).len(), 1);
    }
}
