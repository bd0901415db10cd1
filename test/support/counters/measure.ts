import { setTimeout as sleep } from 'node:timers/promises';
import type { CallLog } from './call-log.ts';
import { type Counters, combine, createTally, increase } from './counters.ts';
import { acceptCounters, expectedCounters, requireEqual } from './expected-counters.ts';
import { readActions, type TemporalClient } from './temporal-actions.ts';

export interface Measured {
  /** What the cost is for, as the file with the counters calls it. */
  subject: string;
  times: number;
  /** Begins it. */
  act(): Promise<void>;
  /** Waits until its workflow has nothing to do. */
  rest(): Promise<void>;
  /** Leaves out calls of which only the order decides whether they are made. */
  adjust?(counters: Counters, times: number): Counters;
  /** The workflows that are part of it, at present. */
  workflowIds(): string[];
}

interface MeasureDeps {
  log: CallLog;
  temporal: TemporalClient;
}

/** The end of a turn is known before the last statements are sent that it causes. */
const settleMs = 15_000;
const learnMs = 3_000;

/**
 * Does something several times, and requires the committed counters each time. Waits for the calls
 * that are expected, and not for a time, so that a busy machine counts the same.
 */
export async function measure(
  { log, temporal }: MeasureDeps,
  { subject, times, act, rest, workflowIds, adjust = (counters) => counters }: Measured,
): Promise<Counters> {
  const tally = createTally();
  let at = log.calls.length;
  const before = await countActions(temporal, workflowIds());
  let expected = expectedCounters(subject);

  const actual = async (count: number): Promise<Counters> => {
    const actions = await countActions(temporal, workflowIds());
    return adjust(tally.counters(combine(actions, before, (now, then) => now - then)), count);
  };
  const read = (): void => {
    for (const call of log.calls.slice(at)) tally.add(call);
    at = log.calls.length;
  };
  const hasAll = (wanted: Counters, count: number): boolean => {
    read();
    const found = tally.counters(before);
    const isThere = ([name, n]: [string, number]): boolean => (found[name] ?? 0) >= n * count;
    return log.isIdle() && Object.entries(wanted).filter(isCall).every(isThere);
  };

  for (let count = 1; count <= times; count += 1) {
    await act();
    const wanted = expected;
    if (wanted !== null) await log.until(() => hasAll(wanted, count), settleMs);
    await rest();
    if (wanted === null) await sleep(learnMs);
    else await log.until(() => hasAll(wanted, count), settleMs);
    read();
    if (count > 1) continue;
    expected ??= await actual(1);
    requireEqual(subject, { expected, actual: await actual(1), times: 1 });
  }
  if (expected === null) throw new Error(`${subject} was not done`);
  requireEqual(subject, { expected, actual: await actual(times), times });
  acceptCounters(subject, expected);
  return expected;
}

/** Temporal's actions and the sums are not in the log of calls. */
const isCall = ([name]: [string, number]): boolean =>
  /^(?:commits$|(?:api|worker|docker): )/.test(name);

/** The actions of these workflows, by name. */
export async function countActions(
  client: TemporalClient,
  workflowIds: string[],
): Promise<Counters> {
  const counts: Record<string, number> = {};
  for (const workflowId of workflowIds) {
    for (const { name, count } of await readActions(client, workflowId))
      increase(counts, `temporal: ${name}`, count);
  }
  return counts;
}
