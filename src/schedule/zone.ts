/** A time zone, shared by all that name it. */
export interface Zone {
  /** As configured: the name, `UTC`, or `local`. */
  readonly label: string;
}
