// Counts the calls of an idle service by pass of the reconciler, and by timer. Both have an
// interval in production, so that their cost for a minute is exact, however slow a machine is.

import { limits } from '../../../core/limits.ts';
import type { Call } from './call-log.ts';
import { type Counters, combine, increase, isCounted, systemOf, withSums } from './counters.ts';
import { CountersChanged } from './expected-counters.ts';
import { isOfService, type SandboxTimer, sandboxTimers } from './schedule.ts';

const minuteMs = 60_000;

export interface IdleWindow {
  /** The calls of a pass, by name. */
  named: Counters;
  commits: number;
  /** How often each timer has fired. */
  fired: Map<SandboxTimer, number>;
  lastedMs: number;
}

/** `calls` are those of whole passes. */
export function idleWindow(calls: readonly Call[], passes: number): IdleWindow {
  const lastedMs = (calls.at(-1)?.atMs ?? 0) - (calls[0]?.atMs ?? 0);
  return { ...perPass(calls, passes), fired: countFired(calls), lastedMs };
}

/** Throws for calls that are neither in every pass nor of a known timer. */
function perPass(calls: readonly Call[], passes: number): Pick<IdleWindow, 'named' | 'commits'> {
  const counts: Record<string, number> = { commits: 0 };
  for (const call of calls) {
    if (call.kind === 'transaction' && isCounted(call)) increase(counts, 'commits');
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

function countFired(calls: readonly Call[]): IdleWindow['fired'] {
  const fired: IdleWindow['fired'] = new Map();
  for (const timer of calls.map(timerOf))
    if (timer !== undefined) fired.set(timer, (fired.get(timer) ?? 0) + 1);
  return fired;
}

const timerOf = (call: Call): SandboxTimer | undefined =>
  call.kind === 'docker' ? sandboxTimers.find(({ name }) => name === call.name) : undefined;

/** The cost of a session, given the same windows with it and without any session. */
export function idleMinute({
  session,
  none,
  actions,
}: {
  session: IdleWindow;
  none: IdleWindow;
  actions: Counters;
}): Counters {
  const passes = minuteMs / limits.reconciler.everyMs;
  const ofPasses = combine(session.named, none.named, (one, other) => (one - other) * passes);
  const named: Record<string, number> = { ...ofPasses, ...actions };
  for (const timer of sandboxTimers) {
    requireInterval(session, timer);
    increase(named, `docker: ${timer.name}`, minuteMs / timer.everyMs);
  }
  return withSums(named, (session.commits - none.commits) * passes);
}

/**
 * A window begins while the engine pauses the sandbox. So a timer may fire once before the pause,
 * once after it, and then at its interval.
 */
function requireInterval({ fired, lastedMs }: IdleWindow, timer: SandboxTimer): void {
  const count = fired.get(timer) ?? 0;
  if (count <= 2 + lastedMs / timer.everyMs) return;
  throw new CountersChanged(
    `docker: ${timer.name}: ${count} calls in ${lastedMs.toFixed(0)} ms ` +
      `instead of one every ${timer.everyMs} ms`,
  );
}
