/** One shown point: `[epoch seconds, cpu percent, rss bytes]`. */
export type Point = readonly [atSeconds: number, cpuPercent: number, rssBytes: number];

/**
 * A run's resource use over its whole life in a bounded number of points (running 17): each stands for `stride` samples, with the
 * last one's time, the mean of their CPU and the peak of their memory. When the points are full, neighbours merge and the stride
 * doubles, so a long run gets coarser, never cut.
 */
export interface Series {
  /** Most points ever shown; 0 = none are kept. */
  readonly pointsMax: number;
  readonly stride: number;
  readonly points: readonly Point[];
  /** Samples since the last complete point. */
  readonly open: { readonly samples: number; readonly point: Point } | null;
}

export function emptySeries(pointsMax: number): Series {
  return { pointsMax, stride: 1, points: [], open: null };
}

export function withSample(series: Series, sample: Point): Series {
  if (series.pointsMax === 0) return series;
  const open =
    series.open === null
      ? { samples: 1, point: sample }
      : { samples: series.open.samples + 1, point: merged(series.open.point, series.open.samples, sample, 1) };
  if (open.samples < series.stride) return { ...series, open };
  const points = [...series.points, open.point];
  return points.length < series.pointsMax ? { ...series, points, open: null } : halved(series, points);
}

/** The points with the still open one as a provisional last. */
export function shownPoints(series: Series): readonly Point[] {
  return series.open === null ? series.points : [...series.points, series.open.point];
}

function halved(series: Series, points: readonly Point[]): Series {
  const pairs: Point[] = [];
  let open: Series["open"] = null;
  for (let at = 0; at < points.length; at += 2) {
    const first = points[at];
    const second = points[at + 1];
    if (first === undefined) break;
    if (second === undefined) open = { samples: series.stride, point: first };
    else pairs.push(merged(first, 1, second, 1));
  }
  return { pointsMax: series.pointsMax, stride: series.stride * 2, points: pairs, open };
}

function merged(first: Point, firstSamples: number, second: Point, secondSamples: number): Point {
  const cpu = (first[1] * firstSamples + second[1] * secondSamples) / (firstSamples + secondSamples);
  return [second[0], cpu, Math.max(first[2], second[2])];
}
