"""Go: `go test`."""
