// The records that calls name. An empty database has only these, a grown one has the same among
// many others.

import { randomUUID } from 'node:crypto';
import type { Run } from '../../../../../core/runs/run.ts';
import { createFlowStore } from '../../../../../systems/postgres/accounts/flow-store.ts';
import { createKeyStore } from '../../../../../systems/postgres/accounts/key-store.ts';
import type { Pool } from '../../../../../systems/postgres/client/pool.ts';
import { createHostStore } from '../../../../../systems/postgres/hosts/host-store.ts';
import { createFrameStore } from '../../../../../systems/postgres/log/frame-store.ts';
import type { SandboxLease } from '../../../../../systems/postgres/log/lease.ts';
import { createRunStore } from '../../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../../support/database.ts';
import { createScenario, type Scenario } from '../../../../support/database-records.ts';
import { giveMessage, storeMessage } from '../session-turns.ts';
import { chat, output } from '../use-frame-log.ts';

export interface Subjects {
  scenario: Scenario;
  key: string;
  /** A plain run with a sandbox. */
  running: Run;
  /** The sandbox of `running`. */
  lease: SandboxLease;
  /** Admitted, and its workflow is not started. */
  admitted: Run;
  /** Its webhook is pending. */
  ended: Run;
  /** A session whose agent works on its first message. The second one waits. */
  awake: Run;
  awakeLease: SandboxLease;
  messageId: string;
  /** A session without messages. */
  asleep: Run;
  /** Other flows of the project, without runs. A grown database has some of the first one. */
  oldFlowIds: string[];
}

export async function createSubjects(pool: Pool): Promise<Subjects> {
  const scenario = await createScenario(pool, testSealer, {
    project: { maxOpenSessions: 100_000, monthlyBudgetUsd: 1_000_000 },
  });
  const { projectId } = scenario;
  await createHostStore(pool).renew({ hostId: 'h-1', name: 'h', capacity: 1_000 });
  const keys = createKeyStore(pool);
  const { key } = await keys.create({ projectId, name: 'ci', createdBy: 'ana' });
  const runs = createRunStore(pool, testSealer);
  const callbackUrl = 'https://hooks.example.test/run';
  const running = await scenario.run({ labels: { team: 'a' } });
  const ended = await scenario.run({ callbackUrl });
  for (const { runId } of [running, ended]) await runs.markWorkflowStarted(runId);
  await runs.markStarted(running.runId, 1, 'idle');
  const lease = await writeLog(pool, running);
  await writeLog(pool, ended);
  await runs.endRun({ runId: ended.runId, cause: 'completed', detail: null, exitCode: 0 });
  const admitted = await scenario.run();
  const awake = await scenario.session();
  const asleep = await scenario.session();
  for (const { runId } of [awake, asleep]) await runs.markWorkflowStarted(runId);
  const messageId = await storeMessage(pool, awake.runId);
  const awakeLease = await giveMessage(pool, awake.runId);
  await storeMessage(pool, awake.runId);
  const oldFlowIds = await createOldFlows(pool, scenario);
  const leases = { lease, awakeLease };
  const runsOf = { running, admitted, ended, awake, asleep };
  return { scenario, key, ...runsOf, ...leases, messageId, oldFlowIds };
}

async function createOldFlows(pool: Pool, { projectId }: Scenario): Promise<string[]> {
  const flows = createFlowStore(pool, testSealer);
  const old = await flows.create({ projectId, name: 'old' });
  const unused = await flows.create({ projectId, name: 'unused' });
  return [old.flowId, unused.flowId];
}

async function writeLog(pool: Pool, { runId }: Run): Promise<SandboxLease> {
  const frames = createFrameStore(pool);
  const lease = await frames.takeLease(runId, 'h-1', 60_000);
  if (!lease) throw new Error('the lease is taken');
  const held = { runId, generation: 1, token: lease.token };
  const lines = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? chat(n) : output(`${n}\n`)));
  await frames.append({ ...held, fromOffset: 0, toOffset: 100, frames: lines, facts: {} });
  return held;
}

export const newMessage = (runId: string) => ({
  ...{ runId, messageId: randomUUID(), clientMessageId: randomUUID(), text: 'Hello.' },
});
