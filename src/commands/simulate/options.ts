/** What is asked of a simulation, read from the texts of the command line. Pure; what cannot be understood is refused by its option. */
import type { Config } from "../../config/model.ts";
import { nearest } from "../../config/nearest.ts";
import type { Pretence } from "../../daemon/simulation/pretend-launcher.ts";
import type { Outage, Simulation } from "../../daemon/simulation/simulation.ts";
import type { EpochMs } from "../../platform/clock.ts";
import { readTimestamp } from "../../schedule/timestamp.ts";
import { isoInZone, resolve, type Zone, zoneNamed } from "../../schedule/zone.ts";
import { FIRES_MAX, RUN_SECONDS_MAX, SIMULATED_DAYS_MAX } from "./limits.ts";

/** As the command line gives them. */
export interface AskedOptions {
  readonly from?: string;
  readonly to?: string;
  readonly down: readonly string[];
  readonly crash: readonly string[];
  readonly zone?: string;
  readonly duration: readonly string[];
  readonly fail: readonly string[];
  readonly job: readonly string[];
  readonly firstStart?: boolean;
}

/** Ends the command with a message that names the option. */
export type Refuse = (message: string) => never;

const DAY_MS = 86_400_000;

export function askedZone(name: string | undefined, refuse: Refuse): Zone {
  const zone = zoneNamed(name ?? "UTC");
  return zone ?? refuse(`--zone: there is no time zone '${name}'; give an IANA name, e.g. Europe/Berlin`);
}

/** The simulation asked for. `nowMs` is where it begins when nothing is said. */
export function askedSimulation(
  asked: AskedOptions,
  whole: Config,
  zone: Zone,
  nowMs: EpochMs,
  refuse: Refuse,
): Simulation {
  const { from, to } = askedTime(asked, zone, nowMs, refuse);
  const config = asked.job.length === 0 ? whole : onlyJobs(whole, asked.job, refuse);
  return {
    config,
    from,
    to,
    outages: askedOutages(asked, { from, to }, zone, refuse),
    isFirstStart: asked.firstStart ?? false,
    firesMax: FIRES_MAX,
    pretend: askedPretence(asked, config, refuse),
  };
}

function askedTime(asked: AskedOptions, zone: Zone, nowMs: EpochMs, refuse: Refuse): { from: EpochMs; to: EpochMs } {
  const from = asked.from === undefined ? Math.ceil(nowMs / 1000) * 1000 : instant("--from", asked.from, zone, refuse);
  const to = asked.to === undefined ? from + DAY_MS : instant("--to", asked.to, zone, refuse);
  if (to <= from) refuse(`--to: ${isoInZone(zone, to)} is not after --from, ${isoInZone(zone, from)}`);
  if (to - from > SIMULATED_DAYS_MAX * DAY_MS) {
    const most = isoInZone(zone, from + SIMULATED_DAYS_MAX * DAY_MS);
    refuse(`--to: at most ${SIMULATED_DAYS_MAX} days are simulated; from ${isoInZone(zone, from)} that is ${most}`);
  }
  return { from, to };
}

/** Without an offset it is what the clock of `--zone` shows. */
function instant(option: string, text: string, zone: Zone, refuse: Refuse): EpochMs {
  const read = readTimestamp(text.trim());
  if (read === null) {
    return refuse(
      `${option}: '${text}' is not a time; write ISO 8601, e.g. 2026-07-14, 2026-07-14T09:00 or 2026-07-14T09:00:00+02:00`,
    );
  }
  const { label, milliseconds, offset } = read;
  const at = (offset === null ? resolve(zone, label).instant : label - offset) * 1000 + milliseconds;
  if (at < 0 || at >= LAST_MS)
    refuse(`${option}: ${text} is outside the years 1970 to 2099, for which schedules are known`);
  return at;
}

const LAST_MS = Date.UTC(2100, 0, 1);

function askedOutages(
  { down, crash }: AskedOptions,
  { from, to }: { readonly from: EpochMs; readonly to: EpochMs },
  zone: Zone,
  refuse: Refuse,
): Outage[] {
  const read = (option: "--down" | "--crash", how: Outage["how"], text: string): Outage & { readonly text: string } => {
    const [first, second, ...others] = text.split("..");
    if (first === undefined || second === undefined || others.length > 0) {
      return refuse(`${option}: '${text}' is not FROM..TO, e.g. 2026-07-14T09:00..2026-07-14T12:00`);
    }
    const outage = { from: instant(option, first, zone, refuse), until: instant(option, second, zone, refuse), how };
    if (outage.until <= outage.from)
      refuse(`${option}: in '${text}' the daemon comes back before it goes; write the earlier time first`);
    if (outage.from < from || outage.from >= to) {
      refuse(
        `${option}: '${text}' begins outside the simulated time, ${isoInZone(zone, from)} to ${isoInZone(zone, to)}`,
      );
    }
    return { ...outage, text };
  };
  const outages = [
    ...down.map((text) => read("--down", "stopped", text)),
    ...crash.map((text) => read("--crash", "killed", text)),
  ].sort((a, b) => a.from - b.from);
  for (const [index, outage] of outages.entries()) {
    const before = outages[index - 1];
    if (before !== undefined && outage.from <= before.until) {
      refuse(
        `--down and --crash: '${outage.text}' begins before the daemon is back from '${before.text}'; make them one, or apart`,
      );
    }
  }
  return outages.map(({ from, until, how }) => ({ from, until, how }));
}

function onlyJobs(config: Config, names: readonly string[], refuse: Refuse): Config {
  const wanted = new Set(names.map((name) => knownName("--job", name, config, refuse)));
  return {
    ...config,
    jobs: config.jobs.filter(({ name }) => wanted.has(name)),
    dags: config.dags.filter(({ name }) => wanted.has(`dag:${name}`)),
  };
}

function askedPretence({ duration, fail }: AskedOptions, config: Config, refuse: Refuse): Simulation["pretend"] {
  let otherwiseMs = 0;
  const lasts = new Map<string, number>();
  for (const text of duration) {
    const equals = text.lastIndexOf("=");
    const ms = milliseconds(text, text.slice(equals + 1), refuse);
    if (equals === -1) otherwiseMs = ms;
    else lasts.set(knownName("--duration", text.slice(0, equals), config, refuse), ms);
  }
  const failing = new Set(fail.map((name) => knownName("--fail", name, config, refuse)));
  return ({ name }): Pretence => ({ lastsMs: lasts.get(name) ?? otherwiseMs, fails: failing.has(name) });
}

function milliseconds(text: string, number: string, refuse: Refuse): number {
  const seconds = /^\d+(\.\d+)?$/.test(number) ? Number(number) : Number.NaN;
  if (!(seconds <= RUN_SECONDS_MAX)) {
    return refuse(
      `--duration: '${text}' is not JOB=SECONDS, nor SECONDS for all other jobs, e.g. backup=90; at most ${RUN_SECONDS_MAX} seconds`,
    );
  }
  return Math.round(seconds * 1000);
}

function knownName(option: string, name: string, { jobs, dags }: Config, refuse: Refuse): string {
  const names = jobs.map((job) => job.name);
  if (option === "--job") names.push(...dags.map((dag) => `dag:${dag.name}`));
  if (names.includes(name)) return name;
  const meant = nearest(name, names);
  return refuse(
    `${option}: there is no job '${name}' in the configuration${meant === null ? "" : `; did you mean ${meant}?`}`,
  );
}
