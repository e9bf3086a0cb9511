/** Names and lists as every message of this room spells them. */

const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** @param month 1 to 12 */
export function monthName(month: number): string {
  return months[month - 1] ?? "";
}

/** @param weekday 0, Sunday, to 6 */
export function weekdayName(weekday: number): string {
  return weekdays[weekday] ?? "";
}

/** `A`, `A and B`, `A, B and C`. */
export function sentenceList(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} and ${last}`;
}

/** `1st`, `22nd`, `13th`. */
export function ordinal(value: number): string {
  const isTeen = value % 100 >= 11 && value % 100 <= 13;
  const suffix = isTeen ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th");
  return `${value}${suffix}`;
}
