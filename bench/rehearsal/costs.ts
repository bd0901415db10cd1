import { type OfParts, ofParts } from './parts.ts';
import type { Totals } from './rehearsal-service.ts';

/** What one run, message or minute costs. */
export interface Cost {
  title: string;
  cpuMs: OfParts<number>;
  statements: number;
  commits: number;
  redisCommands: number;
}

/** What the service uses in a minute without work. */
type MinuteCost = Omit<Cost, 'title'>;

const minuteMs = 60_000;
const nothing: MinuteCost = {
  cpuMs: ofParts(() => 0),
  statements: 0,
  commits: 0,
  redisCommands: 0,
};

export interface Span {
  before: Totals;
  after: Totals;
}

/** What each of `units` has cost between two readings, less what the service uses anyway. */
export function costOf(
  { before, after }: Span,
  units: number,
  idle: MinuteCost = nothing,
): MinuteCost {
  const minutes = (after.atMs - before.atMs) / minuteMs;
  const share = (used: number, ofIdle: number): number => (used - ofIdle * minutes) / units;
  const of = (name: 'statements' | 'commits' | 'redisCommands'): number =>
    share(after[name] - before[name], idle[name]);
  return {
    cpuMs: ofParts((part) =>
      share(after.parts[part].cpuMs - before.parts[part].cpuMs, idle.cpuMs[part]),
    ),
    statements: of('statements'),
    commits: of('commits'),
    redisCommands: of('redisCommands'),
  };
}

/** Of the whole service in a minute. */
export const minuteCostOf = (span: Span): MinuteCost =>
  costOf(span, (span.after.atMs - span.before.atMs) / minuteMs);
