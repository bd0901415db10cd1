import { Counter, type Registry } from 'prom-client';

/** What an operator may want to be woken for is there before it happens for the first time. */
const noteworthy: readonly (readonly [level: string, event: string])[] = [
  ['error', 'host_fenced'],
  ['error', 'task_polling_stopped'],
  ['error', 'request_failed'],
  ['warn', 'activity_failed'],
  ['warn', 'connection_lost'],
  ['warn', 'host_heartbeat_failed'],
  ['warn', 'orphaned_sandbox_removal_failed'],
  ['warn', 'reconcile_step_failed'],
  ['warn', 'run_ended_by_reconciler'],
  ['warn', 'sandbox_operation_retried'],
  ['warn', 'session_save_failed'],
  ['warn', 'workflow_start_deferred'],
];

const eventPattern = /^[a-z]+(?:_[a-z]+){0,7}$/;

/** Every line of the log is one decision; what is no event of ours counts as `other`. */
export function createLogMetrics(registry: Registry) {
  const lines = new Counter({
    name: 'flowrun_log_lines_total',
    help: 'Lines of the log that were written, by event.',
    labelNames: ['level', 'event'],
    registers: [registry],
  });
  for (const [level, event] of noteworthy) lines.inc({ level, event }, 0);
  return {
    lineWritten(level: string, text: string): void {
      lines.inc({ level, event: eventPattern.test(text) ? text : 'other' });
    },
  };
}
