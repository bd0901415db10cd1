import type { Call, CallLog } from './call-log.ts';
import type { CountedService } from './counted-service.ts';
import { combine, withSums } from './counters.ts';
import { requireExpected } from './expected-counters.ts';
import { type IdleWindow, idleMinute, idleWindow } from './idle-window.ts';
import { countActions } from './measure.ts';
import type { CountedSession } from './workloads.ts';

/** Short enough for many periods in a few seconds. */
const reconcileEveryMs = 250;
const leaseMs = 1_500;

const passWithinMs = 60_000;
const passStart = `insert into reconciler_jobs as j (name, leader, free_at) values ('runs'`;

/** Restarts the worker with short intervals, and ends the session. */
export async function measureIdleSession(
  { service, log, temporal }: CountedService,
  session: CountedSession,
): Promise<void> {
  await service.worker.kill('SIGTERM');
  await service.worker.start({
    RECONCILE_EVERY_MS: `${reconcileEveryMs}`,
    LEASE_MS: `${leaseMs}`,
  });
  await session.pause();
  const before = await countActions(temporal, [session.workflowId]);
  const paused = await observePasses(log, 20);
  const after = await countActions(temporal, [session.workflowId]);
  const actions = combine(after, before, (now, then) => now - then);
  await session.end();
  const none = await observePasses(log, 4);
  requireExpected('pass of the reconciler', withSums(none.named, none.commits));
  const windows = { session: paused, none, actions };
  requireExpected('idle minute of a paused session', idleMinute(windows));
}

/** Observes whole passes of the reconciler. The first one may be in progress, and is left out. */
async function observePasses(log: CallLog, passes: number): Promise<IdleWindow> {
  const from = log.calls.length;
  const starts = (): number[] =>
    log.calls.flatMap((call, index) => (index >= from && isPassStart(call) ? [index] : []));
  if (!(await log.until(() => starts().length > passes + 1, passes * passWithinMs)))
    throw new Error(`the reconciler has not made ${passes} passes`);
  const [, first = 0, ...others] = starts();
  const calls = log.calls.slice(first, others[passes - 1]);
  return idleWindow(calls, passes);
}

const isPassStart = (call: Call): boolean =>
  call.kind === 'statement' && call.name.startsWith(passStart);
