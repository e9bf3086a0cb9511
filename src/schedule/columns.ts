import { type FieldLabel, layout } from "./fields.ts";

/** The columns of a normalized or resolved source by what they stand for. An alias has none; one that is not written is absent. */
export function columnTexts(source: string): ReadonlyMap<FieldLabel, string> {
  const texts = source.split(" ");
  if (texts.length < 5) return new Map();
  return new Map(layout(texts.length).map(({ label }, index) => [label, texts[index] ?? ""]));
}
