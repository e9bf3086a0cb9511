/** What reporters say when nobody wrote a text. A change here changes what people receive; the three of `runTexts` are hashed. */
export interface ReportTexts {
  readonly subject: string;
  readonly body: string;
  readonly sentryFingerprint: readonly string[];
}

/** Inputs of every job's digest, fixed byte for byte (config 6.6). */
export const runTexts: ReportTexts = {
  subject: "Cron job '{{name}}' {% if success %}completed{% else %}failed{% endif %}",
  body: `
{% if fail_reason -%}
(job failed because {{fail_reason}})
{% endif %}
{% if stdout and stderr -%}
STDOUT:
---
{{stdout}}
---
STDERR:
{{stderr}}
{% elif stdout -%}
{{stdout}}
{% elif stderr -%}
{{stderr}}
{% else -%}
(no output was captured)
{% endif %}
`,
  sentryFingerprint: ["cronstable", "{{ environment.HOSTNAME }}", "{{ name }}"],
};

/** A job that is overdue (running 15); outside every digest. */
export const lateTexts: ReportTexts = {
  subject: "Cron job '{{name}}' is overdue ({{sla_check}})",
  body: `
{{name}} broke its {{sla_check}} limit of {{threshold_seconds}} s: {{observed_seconds}} s so far.
Last success: {{last_success_at or "none recorded"}}
`,
  sentryFingerprint: ["cronstable", "sla", "{{ name }}"],
};

/** An event of the daemon or of a workflow (running 13); outside every digest. */
export const eventTexts: ReportTexts = {
  subject: "cronstable {{event}}: {{subject}}",
  body: "{{message}}\n",
  sentryFingerprint: ["cronstable", "{{ event }}", "{{ name }}"],
};

/** Subject, newline, body: what Sentry shows. */
export function sentryBody(texts: ReportTexts): string {
  return `${texts.subject}\n${texts.body}`;
}

/** The same in the `{"text": …}` that chat services take. */
export function webhookBody(texts: ReportTexts): string {
  return `{"text": {% filter tojson %}${sentryBody(texts)}{% endfilter %}}`;
}
