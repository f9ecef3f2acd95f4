//! The skilldb command: hands the words to the library and returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    skilldb::cli::run(std::env::args_os())
}
