import type { Evidence } from '../evidence.ts';
import type { Client } from './transcript.ts';
import type { World } from './world.ts';

/** All that must hold holds so long after the process that died was started again. */
const healedWithinMs = 60_000;

/** What was left is judged before the same time is over. */
export async function expectHealed(
  world: World,
  runId: string,
  { clients, startedAt }: { clients: Client[]; startedAt: number },
): Promise<Evidence> {
  const withinMs = healedWithinMs - (performance.now() - startedAt);
  const seen = Promise.all(clients.map((client) => client.seenEnd(withinMs)));
  const evidence = await world.expectInvariants(runId, { clients, withinMs });
  await seen;
  return evidence;
}
