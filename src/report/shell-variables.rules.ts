import { instantText } from "./instant-text.ts";
import { SHELL_TEXT_CHARS_MAX } from "./limits.ts";
import { cpuSeconds, type Story } from "./story.ts";

/**
 * What a shell reporter finds in its environment (running 12.3): every variable in every report, empty where it does not apply, none so
 * long that the reporter could not be started.
 */
export function shellVariables(story: Story): Record<string, string> {
  const stdout = cut(story.stdout ?? "");
  const stderr = cut(story.stderr ?? "");
  const { command, facts } = story;
  const late = facts.kind === "late" ? facts : null;
  return {
    CRONSTABLE_FAIL_REASON: cut(story.failReason ?? "").text,
    CRONSTABLE_FAILED: story.success ? "0" : "1",
    CRONSTABLE_JOB_NAME: cut(story.name).text,
    CRONSTABLE_JOB_COMMAND: cut(command === null || typeof command === "string" ? (command ?? "") : command.join(" "))
      .text,
    CRONSTABLE_JOB_SCHEDULE: cut(story.schedule ?? "").text,
    CRONSTABLE_RETCODE: story.exitCode === null ? "None" : String(story.exitCode),
    CRONSTABLE_STDOUT: stdout.text,
    CRONSTABLE_STDERR: stderr.text,
    CRONSTABLE_STDOUT_TRUNCATED: stdout.cut ? "1" : "0",
    CRONSTABLE_STDERR_TRUNCATED: stderr.cut ? "1" : "0",
    CRONSTABLE_CPU_SECONDS: shown(cpuSeconds(story)),
    CRONSTABLE_MAX_RSS_BYTES: shown(story.maxRssBytes),
    CRONSTABLE_HOST: story.host,
    CRONSTABLE_RUN_ID: story.runId ?? "",
    CRONSTABLE_STARTED_AT: story.startedAt ?? "",
    CRONSTABLE_SLA_CHECK: late?.check ?? "",
    CRONSTABLE_SLA_THRESHOLD_SECONDS: shown(late?.thresholdSeconds ?? null),
    CRONSTABLE_SLA_OBSERVED_SECONDS: shown(late?.observedSeconds ?? null),
    CRONSTABLE_LAST_SUCCESS_AT: late === null || late.lastSuccessAt === null ? "" : instantText(late.lastSuccessAt),
  };
}

function shown(value: number | null): string {
  return value === null ? "" : String(value);
}

/** The first characters, code points not torn, NUL bytes dropped: an environment cannot hold them. */
function cut(text: string): { readonly text: string; readonly cut: boolean } {
  const whole = text.length <= SHELL_TEXT_CHARS_MAX;
  let end = text.length;
  if (!whole) {
    end = 0;
    for (let characters = 0; characters < SHELL_TEXT_CHARS_MAX && end < text.length; characters++)
      end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return { text: text.slice(0, end).replaceAll("\0", ""), cut: end < text.length };
}
