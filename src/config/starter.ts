/** Name of the file that `init` writes. */
export const starterFileName = "cronstable.yaml";

/** What `init` writes: one job that works, and comments that show the way to the rest. */
export const starterText = `# Jobs that cronstable runs. After an edit, check this file with
#   cronstable --validate-config -c <this file, or its directory>
# A running daemon takes the edit over within a minute; SIGHUP makes it look at once.

jobs:
  - name: hello                     # unique; stands in logs, metrics and the dashboard
    command: echo "hello from $(hostname)"
    schedule: "*/5 * * * *"         # minute, hour, day of month, month, day of week: every five minutes
    captureStdout: true             # read what the command prints
    # timezone: Europe/Berlin       # without it the schedule is in UTC
    # executionTimeout: 60          # stop a run after a minute
    # concurrencyPolicy: Forbid     # do not start while the last run is still going

    # A run fails by its exit code, or when it writes to stderr. To try again, and to be told:
    # onFailure:
    #   retry:
    #     maximumRetries: 3
    #     initialDelay: 10          # seconds, then twice as long each time, at most maximumDelay
    #     maximumDelay: 300
    #     backoffMultiplier: 2
    #   report:
    #     mail:
    #       from: cron@example.com
    #       to: you@example.com
    #       smtpHost: localhost

# What all jobs of this file have in common:
# defaults:
#   timezone: Europe/Berlin

# The HTTP API and the dashboard, for this host only:
# web:
#   listen:
#     - http://127.0.0.1:8080
`;
