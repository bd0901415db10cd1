import { DefaultLogger, Runtime } from '@temporalio/worker';

let isInstalled = false;

/**
 * A process has one runtime of Temporal. Without the filter it prints each replay that must fail.
 */
export function ensureTemporalRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' } } },
  });
}
