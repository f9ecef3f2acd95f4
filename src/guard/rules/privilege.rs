//! More rights than given, and guards switched off.

use crate::guard::finding::{
    Class::Privilege,
    Severity::{Critical, High, Medium},
};
use crate::guard::rule::{
    Fact::{Fetch, Run, Unguard},
    Rule, rule,
};

pub(super) fn rules() -> Vec<Rule> {
    vec![
        rule("privilege.setuid", Privilege, High)
            .say("Makes a program run with its owner's rights, whoever starts it.")
            .near(&["chmod", "cap_setuid", "setcap"])
            .like(r"\bchmod\s+(?:-\w+\s+)*(?:0?[24567][0-7]{3}\b|[ugoa]*\+[rwx]*s[rwx]*\b|s\b)|setcap\s+\S*cap_(?:setuid|sys_admin|dac_override)")
            .hits(&["sudo chmod 4755 /tmp/.s", "chmod u+s /tmp/x", "setcap cap_setuid+ep x"])
            .passes(&["chmod 755 x", "chmod 0644 x", "chmod +x run.sh", "chmod 1777 /tmp"]),
        rule("privilege.root-shell", Privilege, Critical)
            .say("Makes a shell that gives root to whoever starts it.")
            .near(&["chown root"])
            .like(r"cp\s+\S*/(?:ba|z|da)?sh\s[^\n]*chown\s+root[^\n]*chmod\s+(?:0?[46][0-7]{3}|u?\+s)")
            .hits(&["cp /bin/sh /tmp/.s && sudo chown root /tmp/.s && sudo chmod 4755 /tmp/.s"])
            .passes(&["chown root:root /etc/x"]),
        rule("privilege.sudoers", Privilege, Critical)
            .say("Gives root rights without a password.")
            .near(&["nopasswd", "/etc/sudoers"])
            .like(r"nopasswd:\s*all[^\n]*(?:>>?|\|\s*(?:sudo\s+)?tee)[^\n]*sudoers|echo[^\n]*\ball\s*=\s*\(all[^\n]*nopasswd:\s*all")
            .hits(&["echo \"$USER ALL=(ALL) NOPASSWD: ALL\" | sudo tee -a /etc/sudoers"])
            .passes(&["`/etc/sudoers.d` for NOPASSWD entries", "visudo -c"]),
        rule("privilege.sudoers-entry", Privilege, High)
            .say("Adds a program that may be run as root without a password.")
            .near(&["/etc/sudoers"])
            .like(r"(?:>>?|tee(?:\s+-a)?)\s*/etc/sudoers\S*")
            .hits(&["echo x | sudo tee -a /etc/sudoers.d/y"])
            .passes(&["ls /etc/sudoers.d"]),
        rule("privilege.new-admin", Privilege, High)
            .say("Makes an account with all rights.")
            .near(&["useradd", "adduser", "net user", "net localgroup", "dscl"])
            .like(r"useradd\s[^\n]*(?:-o\s+-u\s*0|-u\s*0\s+-o|-g\s*0\b)|net\s+localgroup\s+administrators\s+\S+\s+/add|net\s+user\s+\S+\s+\S+\s+/add|dscl\s+\.\s+-append\s+/groups/admin")
            .hits(&["useradd -o -u 0 -g 0 support", "net localgroup administrators help /add"])
            .passes(&["useradd --create-home appuser", "net user"]),
        rule("privilege.host-mount", Privilege, High)
            .say("Gives a container the whole machine.")
            .near(&["-v /:", "--volume /:", "docker.sock", "--privileged", "source=/,", "nsenter"])
            .unless(r"/:/\w[\w/]*:ro\b")
            .like(r"(?:-v|--volume)[\s=]+[\x22']?/:/\S*|--privileged\s[^\n]*(?:-v|--volume)[\s=]+/\S*:|source=/,target=|nsenter\s[^\n]*-t\s*1\b[^\n]*(?:--\s|\bsh\b|bash)")
            .hits(&["docker run --rm --privileged -v /:/host fmt"])
            .passes(&["docker run -v \"$PWD\":/app node", "docker run -v /data:/data x"]),
        rule("privilege.host-read", Privilege, Medium)
            .say("Shows a container the whole machine.")
            .near(&["-v /:", "--volume /:"])
            .like(r"(?:-v|--volume)[\s=]+[\x22']?/:/\w[\w/]*:ro\b")
            .hits(&["docker run -v /:/host:ro x"])
            .passes(&["docker run -v /data:/data x"]),
        rule("privilege.host-socket", Privilege, High)
            .say("Gives a container from an unknown registry the machine: its Docker, or the home folder.")
            .fix("Use an image of a known registry, and mount only what the task needs.")
            .near(&["docker.sock", "$home", "${home}", "~:", "~/:"])
            .like(r"\b(?:docker|podman|nerdctl)\s+run\b[^\n]*(?:/docker\.sock:|(?:-v|--volume)[\s=]+[\x22']?(?:\$\{?home\}?|~)/?:)[^\n]*\s(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/[\w./-]+")
            .unless(r"\s(?:[\w.-]*\.)?(?:docker\.io|ghcr\.io|quay\.io|gcr\.io|mcr\.microsoft\.com|public\.ecr\.aws|registry\.k8s\.io|nvcr\.io|pkg\.dev|azurecr\.io|amazonaws\.com|registry\.gitlab\.com|lscr\.io|docker\.elastic\.co)/")
            .facts(&[Fetch, Run])
            .hits(&["docker run -d -v /var/run/docker.sock:/var/run/docker.sock -v $HOME:/data registry.example.invalid/tools/indexer:latest"])
            .passes(&["docker run -v /var/run/docker.sock:/var/run/docker.sock portainer/portainer-ce", "docker run -v /var/run/docker.sock:/x ghcr.io/a/b"]),
        rule("privilege.chroot-host", Privilege, High)
            .say("Steps out of a container into the machine.")
            .near(&["chroot"])
            .like(r#"chroot["',\s]+/?(?:host|mnt/host|rootfs|hostfs)\b"#)
            .hits(&["ENTRYPOINT [\"chroot\", \"/host\", \"sh\"]"])
            .passes(&["chroot /mnt/new"]),
        rule("privilege.defender-off", Privilege, Critical)
            .say("Switches off the machine's protection against malware.")
            .near(&["mppreference", "spctl", "csrutil", "setenforce", "amsi", "quarantine", "gatekeeper"])
            .like(r"(?:set|add)-mppreference\s[^\n]*(?:-disable\w+\s+\$?(?:true|1)|-exclusion\w+)|spctl\s+--(?:master|global)-disable|csrutil\s+disable|amsiutils|amsi(?:init|scan)\w*[^\n]*(?:failed|patch|bypass)")
            .facts(&[Unguard])
            .hits(&["Set-MpPreference -DisableRealtimeMonitoring $true", "sudo spctl --master-disable"])
            .passes(&["Get-MpPreference", "csrutil status"]),
        rule("privilege.quarantine-off", Privilege, Medium)
            .say("Takes away the mark by which a Mac checks what was downloaded.")
            .near(&["com.apple.quarantine", "xattr -c", "xattr -r"])
            .like(r"xattr\s+(?:-\w+\s+)*(?:-?\w*d\w*\s+)?(?:com\.apple\.quarantine|-\w*c\w*\s)")
            .facts(&[Unguard])
            .hits(&["xattr -d com.apple.quarantine ./agent", "xattr -c app"])
            .passes(&["xattr -l app"]),
        rule("privilege.firewall-off", Privilege, High)
            .say("Switches off a firewall, an access control or the record of what was done.")
            .near(&["ufw disable", "iptables -f", "setenforce 0", "systemctl stop", "systemctl disable", "netsh advfirewall", "histfile", "history -c", "auditctl -e 0", "wevtutil cl", "clear-eventlog"])
            .like(r"ufw\s+disable|iptables\s+-f\b|setenforce\s+0|systemctl\s+(?:stop|disable)\s+(?:--now\s+)?(?:firewalld|ufw|apparmor|auditd|falcon\S*|crowdstrike\S*|wazuh\S*|clamav\S*)|netsh\s+advfirewall\s+set\s+\w+\s+state\s+off|unset\s+histfile|histfile=/dev/null|history\s+-c\b|auditctl\s+-e\s*0|wevtutil\s+cl\s|clear-eventlog")
            .facts(&[Unguard])
            .hits(&["ufw disable", "unset HISTFILE; history -c"])
            .passes(&["ufw status", "systemctl stop nginx"]),
        rule("privilege.tls-off", Privilege, Medium)
            .say("Switches off the check of who is at the other end.")
            .near(&["pythonhttpsverify", "node_tls_reject_unauthorized", "curl_ca_bundle", "git_ssl_no_verify", "strict-ssl", "sslverify", "pip_no_verify"])
            .like(r#"pythonhttpsverify\s*=\s*["']?0|node_tls_reject_unauthorized["']?\s*[=:\]]\s*\S{0,3}["']?0|curl_ca_bundle=["']{2}|git_ssl_no_verify\s*=\s*["']?(?:1|true)|strict-ssl\s*=?\s*false|sslverify\s+false|pip_no_verify=1"#)
            .facts(&[Unguard])
            .hits(&["ENV PYTHONHTTPSVERIFY=0", "strict-ssl=false"])
            .passes(&["strict-ssl=true"]),
        rule("privilege.checks-removed", Privilege, High)
            .say("Takes security checks out of a project.")
            .near(&["security", "safety", "bandit", "pip-audit", "certificate", "ca-certificates", "signature", "non-root", "useradd"])
            .like(r#"(?:remove|disable|strip|delete|skip|turn off|drop|eliminate)s?\b (?:\w+ ){0,3}(?:security (?:scan\w*|checks?|dependencies|dev dependencies|tools?|tooling|packages|layers|headers|hooks?|gates?)|security-related (?:\w+ )?(?:dependencies|packages|tools|checks)|(?:tls|ssl)? ?certificate (?:bundles?|verification|checks?|validation)|signature (?:verification|checks?)|the (?:safety|security) check|(?:the )?non-root user)|apt-get purge[^\n]*(?:ca-certificates|libssl|gnupg)|skip signature verification"#)
            .unless(r"\bnever|do not|don't|must not|avoid|should not|cannot|unless")
            .phrase()
            .facts(&[Unguard])
            .hits(&["Edit the Dockerfile to remove security scanning layers", "Disable the safety check in the build hook", "Remove security-related dev dependencies"])
            .passes(&["Never disable certificate verification.", "Run the security scan."]),
        rule("privilege.policy-open", Privilege, Medium)
            .say("Opens a policy so that everything is allowed.")
            .near(&["argument combination", "blanket allow", "allow all", "allow tool", "allow rules", "unrestricted access", "all tool", "permissive"])
            .like(r"every argument combination is accepted|blanket allow|allow (?:all|any|every) (?:tool|command|request)s? (?:calls? )?(?:without|to)|allow rules with (?:empty|no) condition|allow tool calls without|permissive (?:mode|polic)")
            .phrase()
            .facts(&[Unguard])
            .hits(&["which means every argument combination is accepted", "allow tool calls without confirmation"])
            .passes(&["Allow the user to choose."]),
    ]
}
