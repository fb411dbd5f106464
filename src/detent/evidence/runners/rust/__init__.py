"""Rust: `cargo test`."""
