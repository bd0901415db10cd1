import type { Call } from './call-log.ts';
import { isInspection, isOfService } from './schedule.ts';

/**
 * The cost of something: first the sums, then every call by its system and its name, such as
 * `worker: claim_turn`.
 */
export type Counters = Readonly<Record<string, number>>;

interface Tally {
  add(call: Call): void;
  /** With the actions in Temporal, which are not in the log of calls. */
  counters(actions: Counters): Counters;
}

/** Adds up the calls that were made for something, and leaves out those that recur by time. */
export function createTally(): Tally {
  const named: Record<string, number> = {};
  let commits = 0;
  return {
    add(call) {
      if (call.kind === 'transaction' && isCounted(call)) commits += 1;
      if (call.kind === 'statement' || call.kind === 'docker') {
        const system = systemOf(call);
        if (!isServiceSystem(system) || isOfService(system, call.name) || isInspection(call))
          return;
        increase(named, `${system}: ${call.name}`);
      }
    },
    counters: (actions) => withSums({ ...named, ...actions }, commits),
  };
}

/** Whether a transaction of the service was made for something. */
export const isCounted = ({ program, names, committed }: Call & { kind: 'transaction' }): boolean =>
  committed && isServiceSystem(program) && !names.every((name) => isOfService(program, name));

export const systemOf = (call: Call): string => (call.kind === 'docker' ? 'docker' : call.program);

/** The tests have connections to Postgres, too, and so have migrations. */
const isServiceSystem = (system: string): boolean => ['api', 'worker', 'docker'].includes(system);

export function withSums(named: Counters, commits: number): Counters {
  const sumOf = (pattern: RegExp): number =>
    Object.entries(named).reduce((sum, [name, n]) => (pattern.test(name) ? sum + n : sum), 0);
  return {
    commits,
    statements: sumOf(/^(?:api|worker): /),
    'docker calls': sumOf(/^docker: /),
    'temporal actions': sumOf(/^temporal: /),
    ...Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

export function increase(counts: Record<string, number>, name: string, by = 1): void {
  counts[name] = (counts[name] ?? 0) + by;
}

/** Combines each number with the one of the same name, or zero. Results of zero are left out. */
export function combine(
  one: Counters,
  other: Counters,
  how: (one: number, other: number) => number,
): Counters {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  const all = names.map((name) => [name, how(one[name] ?? 0, other[name] ?? 0)] as const);
  return Object.fromEntries(all.filter(([, count]) => count !== 0));
}
