// A run whose files cannot be stored when it ends. Its host keeps them and retries.

import { existsSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { script } from '../support/prompts.ts';
import { postsOf, untilPosted } from '../support/received-webhook.ts';
import { untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { workflowIdOf } from '../support/workflow-of.ts';

let service: Service;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startReceiver();
  const env = { SNAPSHOT_TIMEOUT_MS: '1500', RECONCILE_EVERY_MS: '500' };
  service = await startService({ env });
}, 240_000);
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
});

const patiently = { timeout: 60_000 };
const refuse = `
  create function refuse() returns trigger language plpgsql as
    $$ begin raise exception 'no space left'; end $$;
  create trigger refuse before insert on run_files for each statement execute function refuse()`;
const accept = 'drop trigger if exists refuse on run_files; drop function if exists refuse()';
const failed = { state: 'failed', skippedCount: 0, skipped: [] };
const stored = { ...failed, state: 'stored' };

const filesOf = async (runId: string) => (await service.readRun(runId)).files;
const hasFolders = async (runId: string) =>
  existsSync(foldersOf(service.dataDir, { runId, generation: 1 }).root);

/** A run whose agent has written a file that Postgres has refused to store. */
async function endedRun() {
  const prompt = script([{ write: { path: 'a.txt', content: 'kept-41c' } }, { say: 'Written.' }]);
  const { runId } = await service.trigger({ prompt, callbackUrl: `${receiver.url}/hook` });
  return service.untilEnded(runId);
}

/** The attempt was made after the run's end, in the background. */
const untilRetried = ({ runId }: { runId: string }) =>
  expect
    .poll(() => service.worker.log().split('\n'), patiently)
    .toContainEqual(expect.stringMatching(`${runId}.*"unstored_files_failed"`));

describe('a run whose files Postgres refuses', { timeout: 120_000 }, () => {
  beforeEach(() => service.database.pool.query(refuse));
  afterEach(() => service.database.pool.query(accept));

  it('ends cleanly and reports it, and a restarted worker stores its files later', async () => {
    const run = await endedRun();
    expect(run).toMatchObject({ exitCode: 0, result: 'Written.', files: failed });
    expect(run).not.toHaveProperty('error');
    await untilPosted(receiver, run, 1);
    const sent = JSON.parse(postsOf(receiver, run)[0]?.body ?? '');
    expect(sent).toMatchObject({ exitCode: 0, files: failed });

    await untilRetried(run);
    await service.worker.restart('SIGKILL');
    expect(await filesOf(run.runId)).toEqual(failed);
    expect(await hasFolders(run.runId)).toBe(true);

    await service.database.pool.query(accept);
    await expect.poll(() => filesOf(run.runId), patiently).toEqual(stored);
    const { body } = await service.call('GET', `/runs/${run.runId}/files/a.txt`);
    expect(body).toBe('kept-41c');
    await expect.poll(() => hasFolders(run.runId), patiently).toBe(false);
    expect(postsOf(receiver, run)).toHaveLength(1);
  });

  it('leaves no folder once it is deleted', async () => {
    const run = await endedRun();
    await untilRetried(run);
    expect(await hasFolders(run.runId)).toBe(true);
    await service.call('DELETE', `/runs/${run.runId}`);
    await expect.poll(() => hasFolders(run.runId), patiently).toBe(false);
  });

  it('leaves no folder once its retention time has passed', async () => {
    const run = await endedRun();
    await untilRetried(run);
    expect(await hasFolders(run.runId)).toBe(true);
    const age = `update runs set ended_at = ended_at - interval '1 year' where id = $1`;
    await service.database.pool.query(age, [run.runId]);
    await service.database.pool.query(`delete from reconciler_jobs where name = 'retention'`);
    await service.worker.restart(); // a worker that starts takes the jobs that are due
    await expect.poll(() => hasFolders(run.runId), patiently).toBe(false);
    expect(await filesOf(run.runId)).toBeNull();
  });
});

it('names what it cannot store in the record and the webhook of a run', async () => {
  const prompt = script([{ shell: 'mkfifo pipe; touch a.txt' }, { say: 'Made.' }]);
  const run = await service.trigger({ prompt, callbackUrl: `${receiver.url}/hook` });
  const skipped = [{ path: 'pipe', reason: 'a named pipe' }];
  const files = { state: 'partial', skippedCount: 1, skipped };
  expect(await service.untilEnded(run.runId)).toMatchObject({ exitCode: 0, files });
  await untilPosted(receiver, run, 1);
  expect(JSON.parse(postsOf(receiver, run)[0]?.body ?? '')).toMatchObject({ files });
}, 60_000);

it('stores the files of a run that an operator has terminated', async () => {
  const prompt = script([{ write: { path: 'a.txt', content: 'kept-9e0' } }, { hang: true }]);
  const { runId } = await service.trigger({ prompt });
  await untilWorking(service, { runId });
  const connection = await Connection.connect({ address: stackEnv.temporalAddress });
  const workflowId = await workflowIdOf(service, runId);
  await new Client({ connection }).workflow.getHandle(workflowId).terminate('test');
  await connection.close();
  expect(await service.untilEnded(runId)).toMatchObject({ error: 'terminated_by_operator' });
  await expect.poll(() => filesOf(runId), patiently).toEqual(stored);
  expect((await service.call('GET', `/runs/${runId}/files/a.txt`)).body).toBe('kept-9e0');
  await expect.poll(() => hasFolders(runId), patiently).toBe(false);
});
