"""Any other runner, by the report that it writes: JUnit XML, TRX or TAP, where `[test] report` says."""
