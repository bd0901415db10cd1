import type { Service } from '../../test/support/service.ts';
import { linesOf } from '../cold/log-timestamps.ts';

/**
 * When a session's message was written into its agent's input, by the worker's own log and to its
 * millisecond; on the clock of `performance.now()`, cut in the same way.
 */
export function deliveredAt({ worker }: Pick<Service, 'worker'>, runId: string, turn: number) {
  const toPerformance = performance.now() - Date.now();
  const line = linesOf(worker.log(), runId).findLast(
    ({ msg, index }) => msg === 'message_delivered' && index === turn,
  );
  if (line === undefined) throw new Error(`the log does not tell when message ${turn} left`);
  return Date.parse(line.time) + toPerformance;
}
