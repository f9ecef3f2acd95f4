//! What a file is, by its first bytes and not by its name; and what part it plays in a skill.

/// What the first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Magic {
    /// A program for a machine: ELF, Mach-O, Windows.
    Program,
    /// Compiled code for an interpreter: Python, Java, WebAssembly.
    Bytecode,
    /// A zip archive, also in its office forms.
    Zip,
    /// A gzip stream.
    Gzip,
    /// A tar archive.
    Tar,
    /// Another archive, which is not opened.
    Archive,
    /// A picture, a font, a film, a sound, a PDF, a database.
    Media,
    /// The antivirus test file.
    Eicar,
}

impl Magic {
    /// What to call it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Program => "a program",
            Self::Bytecode => "compiled code",
            Self::Zip | Self::Gzip | Self::Tar | Self::Archive => "an archive",
            Self::Media => "media",
            Self::Eicar => "the antivirus test file",
        }
    }
}

/// Reads the first bytes.
pub(super) fn magic(bytes: &[u8]) -> Option<Magic> {
    // Split in two, so that this file is not one itself.
    const EICAR: (&[u8], &[u8]) = (
        b"X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD",
        b"-ANTIVIRUS-TEST-FILE!$H+H*",
    );
    let starts = |mark: &[u8]| bytes.starts_with(mark);
    if bytes.len() < 1_048_576
        && let Some(at) = memchr::memmem::find(bytes, EICAR.0)
        && bytes[at + EICAR.0.len()..].starts_with(EICAR.1)
    {
        return Some(Magic::Eicar);
    }
    let is_windows = || {
        let offset = bytes
            .get(0x3c..0x40)
            .map(|part| u32::from_le_bytes([part[0], part[1], part[2], part[3]]));
        starts(b"MZ")
            && (bytes.len() < 0x40
                || offset.is_some_and(|at| {
                    bytes
                        .get(at as usize..)
                        .is_some_and(|rest| rest.starts_with(b"PE"))
                }))
    };
    let is_python = || {
        matches!(bytes.get(2..4), Some(b"\r\n"))
            && !bytes[..2].iter().all(u8::is_ascii_graphic)
            && bytes.len() >= 16
            && bytes[..32.min(bytes.len())].contains(&0)
    };
    if starts(b"\x7fELF")
        || starts(&[0xcf, 0xfa, 0xed, 0xfe])
        || starts(&[0xce, 0xfa, 0xed, 0xfe])
        || starts(&[0xfe, 0xed, 0xfa, 0xcf])
        || is_windows()
    {
        return Some(Magic::Program);
    }
    if starts(b"\0asm") || is_python() || (starts(&[0xca, 0xfe, 0xba, 0xbe]) && bytes.len() > 8) {
        return Some(Magic::Bytecode);
    }
    if starts(b"PK\x03\x04") || starts(b"PK\x05\x06") {
        return Some(Magic::Zip);
    }
    if starts(&[0x1f, 0x8b]) {
        return Some(Magic::Gzip);
    }
    if bytes.get(257..262) == Some(b"ustar") {
        return Some(Magic::Tar);
    }
    if starts(b"7z\xbc\xaf\x27\x1c")
        || starts(b"Rar!\x1a\x07")
        || starts(b"\xfd7zXZ\0")
        || starts(b"BZh")
        || starts(&[0x28, 0xb5, 0x2f, 0xfd])
        || starts(b"!<arch>")
        || starts(b"xar!")
    {
        return Some(Magic::Archive);
    }
    let is_media = starts(b"\x89PNG")
        || starts(&[0xff, 0xd8, 0xff])
        || starts(b"GIF8")
        || starts(b"RIFF")
        || starts(b"%PDF")
        || starts(b"wOF")
        || starts(b"OTTO")
        || starts(&[0, 1, 0, 0, 0])
        || starts(b"ID3")
        || starts(b"OggS")
        || starts(b"fLaC")
        || starts(b"SQLite format 3")
        || starts(b"II*\0")
        || starts(b"MM\0*")
        || starts(b"BM")
        || starts(&[0, 0, 1, 0])
        || bytes.get(4..8) == Some(b"ftyp")
        || starts(&[0xd0, 0xcf, 0x11, 0xe0]);
    is_media.then_some(Magic::Media)
}

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// The skill file.
    Skill,
    /// Text a model is shown when it asks.
    Reference,
    /// Code.
    Script,
    /// Settings of tools, packages and agents: what runs by itself.
    Manifest,
    /// A test or what a test reads.
    Test,
    /// Locks of package managers.
    Lock,
    /// Anything else.
    Data,
}

/// The role of a file, by its path and its first line.
pub(super) fn role(path: &str, head: &[u8]) -> Role {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit(['/', '!']).next().unwrap_or(&path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if path == "skill.md" {
        return Role::Skill;
    }
    if is_lock(name) {
        return Role::Lock;
    }
    if is_manifest(&path, name) {
        return Role::Manifest;
    }
    let is_test = path.split('/').rev().skip(1).any(|part| {
        matches!(
            part,
            "tests" | "test" | "__tests__" | "fixtures" | "testdata" | "evals" | "spec"
        )
    }) || name.starts_with("test_")
        || name.contains(".test.")
        || name.contains("_test.")
        || name.contains(".spec.");
    if is_test {
        return Role::Test;
    }
    match extension {
        "md" | "mdx" | "txt" | "rst" | "adoc" | "tex" | "org" | "mdc" => Role::Reference,
        "sh" | "bash" | "zsh" | "fish" | "ksh" | "py" | "pyw" | "js" | "mjs" | "cjs" | "jsx"
        | "ts" | "tsx" | "mts" | "rb" | "pl" | "php" | "lua" | "ps1" | "psm1" | "bat" | "cmd"
        | "vbs" | "go" | "rs" | "java" | "kt" | "swift" | "c" | "cc" | "cpp" | "h" | "cs" | "r"
        | "jl" | "ipynb" | "scala" | "ex" | "exs" | "awk" | "applescript" | "scpt" | "groovy"
        | "dart" | "hta" | "wsf" => Role::Script,
        _ if head.starts_with(b"#!") => Role::Script,
        _ => Role::Data,
    }
}

fn is_lock(name: &str) -> bool {
    matches!(
        name,
        "package-lock.json"
            | "yarn.lock"
            | "pnpm-lock.yaml"
            | "cargo.lock"
            | "poetry.lock"
            | "uv.lock"
            | "bun.lock"
            | "gemfile.lock"
            | "composer.lock"
            | "go.sum"
    )
}

fn is_manifest(path: &str, name: &str) -> bool {
    matches!(
        name,
        "package.json"
            | "setup.py"
            | "setup.cfg"
            | "pyproject.toml"
            | "pipfile"
            | ".npmrc"
            | "pip.conf"
            | ".pypirc"
            | "makefile"
            | "gnumakefile"
            | "justfile"
            | "taskfile.yml"
            | ".mcp.json"
            | "mcp.json"
            | "hooks.json"
            | "settings.json"
            | "settings.local.json"
            | "tasks.json"
            | "conftest.py"
            | "sitecustomize.py"
            | "usercustomize.py"
            | ".envrc"
            | "docker-compose.yml"
            | "compose.yaml"
            | ".gitmodules"
            | "cargo.toml"
            | "build.rs"
            | "gemfile"
            | ".bashrc"
            | ".zshrc"
            | ".profile"
            | "binding.gyp"
            | "plugin.json"
            | ".pre-commit-config.yaml"
    ) || name.starts_with("requirements") && name.ends_with(".txt")
        || name.starts_with("dockerfile")
        || name.ends_with(".dockerfile")
        || name.ends_with("tasks.json")
        || name.ends_with(".pth")
        || name.ends_with(".plist")
        || name.ends_with(".service")
        || name.ends_with(".desktop")
        || [
            ".github/workflows/",
            ".vscode/",
            ".claude/",
            ".cursor/",
            ".husky/",
            ".git/",
            "hooks/",
            ".codex/",
            ".gemini/",
        ]
        .iter()
        .any(|part| path.starts_with(part) || path.contains(&format!("/{part}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_decide() {
        assert_eq!(magic(b"\x7fELF\x02\x01"), Some(Magic::Program));
        assert_eq!(magic(b"MZ short"), Some(Magic::Program));
        assert_eq!(
            magic(b"\xa7\r\r\n\0\0\0\0\0\0\0\0\0\0\0\0\0"),
            Some(Magic::Bytecode)
        );
        assert_eq!(magic(b"PK\x03\x04"), Some(Magic::Zip));
        assert_eq!(magic(b"\x89PNG\r\n"), Some(Magic::Media));
        assert_eq!(magic(b"# Text\r\n"), None);
    }

    #[test]
    fn roles_follow_path_and_first_line() {
        assert_eq!(role("SKILL.md", b"---"), Role::Skill);
        assert_eq!(role("assets/setup.tmpl", b"#!/bin/sh"), Role::Script);
        assert_eq!(role("conftest.py", b""), Role::Manifest);
        assert_eq!(role("tests/a.sh", b""), Role::Test);
        assert_eq!(role("assets/package-lock.json", b"{"), Role::Lock);
        assert_eq!(role("data.bin", b""), Role::Data);
    }
}
