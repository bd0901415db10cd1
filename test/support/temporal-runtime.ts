import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime } from '@temporalio/worker';

/**
 * A process has one runtime of Temporal, which ends with its last connection. Without the filter it
 * prints each replay that must fail.
 */
export function ensureTemporalRuntime(): void {
  try {
    Runtime.install({
      shutdownSignals: [],
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
    });
  } catch (error) {
    // The runtime of an earlier test file is still there.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
