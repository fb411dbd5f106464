"""Any other runner, by its own report: JUnit XML, TRX or TAP, at the path in `[test] report`."""
