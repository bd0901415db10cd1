import type { Service } from '../../test/support/service.ts';
import { linesOf } from '../cold/log-timestamps.ts';

/**
 * When the worker wrote a message into the agent's input, according to its log. Log times have
 * millisecond resolution. Returned on the clock of `performance.now()`.
 */
export function deliveredAt({ worker }: Pick<Service, 'worker'>, runId: string, turn: number) {
  const toPerformance = performance.now() - Date.now();
  const line = linesOf(worker.log(), runId).findLast(
    ({ msg, index }) => msg === 'message_delivered' && index === turn,
  );
  if (line === undefined) throw new Error(`the log has no delivery of message ${turn}`);
  return Date.parse(line.time) + toPerformance;
}
