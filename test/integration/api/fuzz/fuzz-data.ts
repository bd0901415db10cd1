// The data that requests refer to: runs in every state, of this project and of another, on a host
// that accepts every request.

import { createHash, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ApiFixture, ApiProcess, Tenant } from '../../../support/api-fixture.ts';
import { snapshotOf } from '../../../support/snapshot-of.ts';
import { caller } from '../call.ts';
import { fakeHostRpc } from '../fake-host-rpc.ts';
import { openLog } from '../log-writer.ts';

export interface FuzzData {
  api: ApiProcess;
  tenant: Tenant;
  /** High enough that no limit is reached. */
  keys: string[];
  /** An id for a path parameter. */
  idOf: (parameter: string, choice: number) => string;
  /** Adds a run that a request has started. */
  note: (runId: string) => void;
  /** New runs take the place of those that were deleted. */
  refill: () => Promise<void>;
}

const runsKept = 40;
const interactionId = 'question-1';

export async function createFuzzData(fixture: ApiFixture, keyCount: number): Promise<FuzzData> {
  const api = await fixture.start({ hostRpc: fakeHostRpc() });
  const tenant = await fixture.tenant({ flow: { prompt: 'Go' } });
  const otherTenant = await fixture.tenant({ flow: { prompt: 'Go' } });
  const { projectId } = tenant;
  const named = { name: 'ci', createdBy: 'ana', rateLimitRpm: 10_000, projectId };
  const made = Array.from({ length: keyCount }, () => fixture.stores.keys.create(named));
  const keys = (await Promise.all(made)).map(({ key }) => key);
  const foreignRun = await start(api, otherTenant);
  const runs: string[] = [];
  const sessions: OpenedSession[] = [];

  function note(runId: string): void {
    runs.push(runId);
    if (runs.length > runsKept) runs.shift();
  }

  async function refill(): Promise<void> {
    for (const become of [fresh, live, asking, ended]) {
      for (let i = 0; i < 3; i += 1) {
        const runId = await start(api, tenant);
        await become(fixture, runId);
        note(runId);
      }
    }
    await giveFlowFile(api, tenant);
    sessions.length = 0;
    for (let i = 0; i < 3; i += 1) sessions.push(await open(api, tenant));
  }

  function idOf(parameter: string, choice: number): string {
    const isOther = choice % 12 < 2;
    if (isOther && choice % 2 === 0) return randomUUID();
    if (parameter === 'flowId') return isOther ? otherTenant.flowId : tenant.flowId;
    if (parameter === 'interactionId') return interactionId;
    if (parameter === 'version') return String(1 + (choice % 2));
    const session = sessions[choice % sessions.length];
    if (parameter === 'sessionId') return session?.sessionId ?? randomUUID();
    if (parameter === 'messageId') return session?.messageId ?? randomUUID();
    return isOther ? foreignRun : (runs[choice % runs.length] ?? foreignRun);
  }

  await refill();
  return { api, tenant, keys, idOf, note, refill };
}

async function start(api: ApiProcess, { flowId, key }: Tenant): Promise<string> {
  const answer = await caller(api, key)(`/api/v1/flows/${flowId}/runs`, { body: {} });
  return answer.json.data.runId;
}

/** An earlier request may have deleted it. */
async function giveFlowFile(api: ApiProcess, { flowId, key }: Tenant): Promise<void> {
  const files = [{ path: 'a.txt', content: 'a', encoding: 'utf8' }];
  await caller(api, key)(`/api/v1/flows/${flowId}/files`, { method: 'PUT', body: { files } });
}

interface OpenedSession {
  sessionId: string;
  /** Of a queued message. */
  messageId: string;
}

async function open(api: ApiProcess, { flowId, key }: Tenant): Promise<OpenedSession> {
  const answer = await caller(api, key)(`/api/v1/flows/${flowId}/chat`, {
    body: { message: 'Hello.' },
  });
  const { sessionId, messageId } = answer.json.data;
  return { sessionId, messageId };
}

const fresh = async (): Promise<void> => undefined;

/** In a sandbox on a host. */
async function live({ database }: ApiFixture, runId: string): Promise<void> {
  await database.pool.query(
    `update runs set host_id = 'host-1', started_at = now() where id = $1`,
    [runId],
  );
}

async function asking(fixture: ApiFixture, runId: string): Promise<void> {
  await live(fixture, runId);
  const input = JSON.stringify({ questions: [{ question: 'Which?' }] });
  const interaction = { interactionId, toolName: 'AskUserQuestion', input };
  await fixture.stores.interactions.record(runId, [{ kind: 'asked', interaction }]);
}

/** With a log entry and a file. */
async function ended(fixture: ApiFixture, runId: string): Promise<void> {
  const log = await openLog(fixture, runId);
  const frame = { event: 'output', data: '{"data":"Done."}', channel: 'output' as const };
  await log.write([frame, { event: 'assistant', data: '{}', channel: 'chat' }]);
  const content = Buffer.from('What it left.');
  const sha256 = createHash('sha256').update(content).digest('hex');
  const blob = { sha256, size: content.length };
  await fixture.stores.blobs.put(Readable.from([content]), blob);
  const entry = { ...blob, mode: 0o644, scope: 'run' as const, modifiedAt: new Date() };
  const snapshot = snapshotOf([{ ...entry, path: 'a.txt' }]);
  await fixture.stores.files.replaceSnapshot({ runId, generation: 1 }, snapshot);
  await log.end();
}
