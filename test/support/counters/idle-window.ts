// Counts the calls of an idle service by pass of the reconciler, and by timer. Both have an
// interval in production, so that their cost for a minute is exact, however slow a machine is.

import { limits } from '../../../core/limits.ts';
import type { Call } from './call-log.ts';
import { type Counters, combine, increase, isCounted, systemOf, withSums } from './counters.ts';
import { CountersChanged } from './expected-counters.ts';
import { isOfService, type SandboxTimer, sandboxTimers } from './schedule.ts';

const minuteMs = 60_000;
/** The load of the machine delays calls. */
const toleranceMin = 0.9;
const toleranceMax = 10;

export interface IdleWindow {
  /** The calls of a pass, by name. */
  named: Counters;
  commits: number;
  /** The calls of timers, by name. */
  timed: Map<SandboxTimer, TimedCalls>;
}

interface TimedCalls {
  name: string;
  atMs: number[];
}

/** `calls` are those of whole passes. */
export function idleWindow(calls: readonly Call[], passes: number): IdleWindow {
  return { ...perPass(calls, passes), timed: timedCalls(calls) };
}

/** Throws for calls that are neither in every pass nor of a known timer. */
function perPass(calls: readonly Call[], passes: number): Pick<IdleWindow, 'named' | 'commits'> {
  const counts: Record<string, number> = { commits: 0 };
  for (const call of calls) {
    if (call.kind === 'transaction' && isCounted(call) && !isOfTimer(call))
      increase(counts, 'commits');
    if (!('name' in call) || timerOf(call) || isOfService(systemOf(call), call.name)) continue;
    increase(counts, `${systemOf(call)}: ${call.name}`);
  }
  const uneven = Object.entries(counts).filter(([, count]) => count % passes !== 0);
  if (uneven.length > 0) {
    const lines = uneven.map(([name, count]) => `  ${name}: ${count}`);
    throw new CountersChanged(
      `In ${passes} passes of the reconciler there were calls that are neither made in each ` +
        `pass, nor listed as a timer in test/support/counters/schedule.ts:\n${lines.join('\n')}`,
    );
  }
  const { commits = 0, ...named } = combine(counts, {}, (count) => count / passes);
  return { named, commits };
}

function timedCalls(calls: readonly Call[]): IdleWindow['timed'] {
  const timed: IdleWindow['timed'] = new Map();
  for (const call of calls) {
    const timer = timerOf(call);
    if (timer === undefined || !('name' in call)) continue;
    const { name, atMs } = timed.get(timer) ?? { name: call.name, atMs: [] };
    timed.set(timer, { name, atMs: [...atMs, call.atMs] });
  }
  return timed;
}

const timerOf = (call: Call): SandboxTimer | undefined =>
  'name' in call
    ? sandboxTimers.find(
        ({ system, name }) => system === systemOf(call) && call.name.startsWith(name),
      )
    : undefined;

/** A renewal is a transaction of one statement. */
const isOfTimer = ({ program, names, ...call }: Call & { kind: 'transaction' }): boolean =>
  names.every((name) => timerOf({ ...call, kind: 'statement', program, name }) !== undefined);

/** The cost of a session, given the same windows with it and without any session. */
export function idleMinute(
  { session, none, actions }: { session: IdleWindow; none: IdleWindow; actions: Counters },
  intervalOf: (timer: SandboxTimer) => number,
): Counters {
  const passes = minuteMs / limits.reconciler.everyMs;
  const ofPasses = combine(session.named, none.named, (one, other) => (one - other) * passes);
  const named: Record<string, number> = { ...ofPasses, ...actions };
  let commits = (session.commits - none.commits) * passes;
  for (const timer of sandboxTimers) {
    const perMinute = minuteMs / timer.everyMs;
    increase(
      named,
      `${timer.system}: ${requireInterval(session, timer, intervalOf(timer))}`,
      perMinute,
    );
    if (timer.system === 'worker') commits += perMinute;
  }
  return withSums(named, commits);
}

/** The name of a timer's calls. Requires that they have come at its interval in this test. */
function requireInterval({ timed }: IdleWindow, timer: SandboxTimer, intervalMs: number): string {
  const { name, atMs } = timed.get(timer) ?? { name: timer.name, atMs: [] };
  const observedMs = ((atMs.at(-1) ?? 0) - (atMs[0] ?? 0)) / (atMs.length - 1);
  const ratio = observedMs / intervalMs;
  if (ratio >= toleranceMin && ratio <= toleranceMax) return name;
  throw new CountersChanged(
    `${timer.system}: ${name}: ${atMs.length} calls, ` +
      `every ${observedMs.toFixed(0)} ms instead of every ${intervalMs} ms`,
  );
}
