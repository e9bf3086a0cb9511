/** The two forms a scrape may have. */
export type ExpositionFormat = "text" | "openmetrics";

export type MetricType = "counter" | "gauge" | "histogram" | "info";

/** What `# HELP` and `# TYPE` say of a family. `name` as its samples have it; a histogram's without the endings. */
export interface Family {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
}

/** One family's samples, as text. A family without a sample is not shown (http 10.1). */
export interface FamilyText {
  /** Adds a sample; `labels` as from `labelSet`, "" for none. `ending` is that of a histogram's part. */
  sample(labels: string, value: number, ending?: string): void;
  take(): string;
}

export function familyText(family: Family, format: ExpositionFormat): FamilyText {
  let text = "";
  return {
    sample(labels, value, ending = "") {
      if (text === "") text = headOf(family, format);
      text += `${family.name}${ending}${labels} ${numberText(value)}\n`;
    },
    take: () => text,
  };
}

/** `{a="b",c="d"}`, in this order. */
export function labelSet(...labels: readonly (readonly [name: string, value: string])[]): string {
  return `{${labels.map(([name, value]) => `${name}="${labelText(value)}"`).join(",")}}`;
}

/** A label value between its quotes. A carriage return stays: the text format has no spelling for it. */
export function labelText(value: string): string {
  return /[\\"\n]/.test(value) ? value.replace(/[\\"\n]/g, (character) => escapes[character] ?? character) : value;
}

/** An upper bound as `le` has it: always with a fraction. */
export function boundText(bound: number): string {
  return Number.isInteger(bound) && Math.abs(bound) < 1e16 ? bound.toFixed(1) : String(bound);
}

export function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

/** In the text format a family goes by the name of its samples; OpenMetrics takes the type's ending off. */
function headOf({ name, type, help }: Family, format: ExpositionFormat): string {
  if (format === "text") {
    const shown = help.replace(/[\\\n]/g, (character) => escapes[character] ?? character);
    return `# HELP ${name} ${shown}\n# TYPE ${name} ${type === "info" ? "gauge" : type}\n`;
  }
  const short = name.replace(type === "counter" ? /_total$/ : type === "info" ? /_info$/ : /$^/, "");
  return `# HELP ${short} ${labelText(help)}\n# TYPE ${short} ${type}\n`;
}
