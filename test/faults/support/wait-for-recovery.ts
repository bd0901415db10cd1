import type { Evidence } from '../evidence.ts';
import type { About, FaultFixture } from './fault-fixture.ts';
import type { Client } from './transcript.ts';

/** All invariants hold this long after the restart of the killed process. */
const recoveryMs = 60_000;

interface Dead extends Pick<About, 'isRefused'> {
  clients: Client[];
  startedAt: number;
}

/** Checks the invariants within that time. */
export async function waitForRecovery(
  fixture: FaultFixture,
  runId: string,
  { startedAt, ...about }: Dead,
): Promise<Evidence> {
  const withinMs = recoveryMs - (performance.now() - startedAt);
  const seen = Promise.all(about.clients.map((client) => client.seenEnd(withinMs)));
  const evidence = await fixture.expectInvariants(runId, { ...about, withinMs });
  await seen;
  return evidence;
}
