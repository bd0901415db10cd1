import { type OfParts, ofParts } from './parts.ts';
import type { Totals } from './rehearsal-service.ts';

/** The cost of one run, message or minute. */
export interface Cost {
  title: string;
  cpuMs: OfParts<number>;
  statements: number;
  commits: number;
  redisCommands: number;
}

/** The cost of a minute without work. */
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

/** The cost of each unit between two readings, without the idle cost of the service. */
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

/** The cost of the whole service in a minute. */
export const minuteCostOf = (span: Span): MinuteCost =>
  costOf(span, (span.after.atMs - span.before.atMs) / minuteMs);
