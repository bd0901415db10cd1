import type { RunRecords } from '../run-records.ts';
import type { FaultFixture, InvariantOptions } from './fault-fixture.ts';
import type { Client } from './transcript.ts';

/** All invariants hold this long after the restart of the killed process. */
const recoveryMs = 60_000;

interface RecoveryOptions extends Pick<InvariantOptions, 'isWebhookRejected'> {
  clients: Client[];
  startedAt: number;
}

/** Checks the invariants within that time. */
export async function waitForRecovery(
  fixture: FaultFixture,
  runId: string,
  { startedAt, ...options }: RecoveryOptions,
): Promise<RunRecords> {
  const withinMs = recoveryMs - (performance.now() - startedAt);
  const seen = Promise.all(options.clients.map((client) => client.untilFinished(withinMs)));
  const records = await fixture.expectInvariants(runId, { ...options, withinMs });
  await seen;
  return records;
}
