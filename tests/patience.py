"""How long tests wait for what must come about. Only a fault waits that long: on a busy machine everything takes many times as long."""

import os

BUSY = min(max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0), 2.0)  # programs that want each core, as the tests begin
LONG = 240.0 * BUSY  # for another process to do something; pytest's own limit, for what hangs, is longer
