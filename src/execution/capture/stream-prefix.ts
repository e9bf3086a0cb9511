/**
 * The text before each mirrored line: `streamPrefix` with `{job_name}` and `{stream_name}` filled in; doubled braces are literal ones (running 2).
 * Placeholders were checked when the configuration was loaded.
 */
export function streamPrefix(template: string, jobName: string, streamName: "stdout" | "stderr"): string {
  return template.replace(/\{\{|\}\}|\{job_name\}|\{stream_name\}/g, (found) => {
    switch (found) {
      case "{{":
        return "{";
      case "}}":
        return "}";
      case "{job_name}":
        return jobName;
      default:
        return streamName;
    }
  });
}
