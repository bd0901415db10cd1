// A restore between two attempts of a webhook: its workflow continues on an older database. Each
// receiver is notified of the run with at most four posts.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunRecord } from '../support/api-client.ts';
import { commandEnv } from '../support/command-env.ts';
import { script } from '../support/prompts.ts';
import { postsOf } from '../support/received-webhook.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { cliWith } from '../support/run-cli.ts';
import { untilWorking } from '../support/run-states.ts';
import { stackEnv } from '../support/stack-env.ts';
import type { Behaviour } from '../support/webhook-receiver.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { terminateByCommand } from './support/temporal-cli.ts';

const pollOptions = { timeout: 120_000, interval: 200 };
const waits = script([{ say: 'here' }, { waitForFile: 'go-on' }, { say: 'Done.' }]);

let fixture: FaultFixture;
/** The receiver rejects everything before the restore and accepts everything after it. */
let isTaking = false;
/** The receiver does not answer its posts, so that its attempts take longer. */
let slow: string;
/** All three are running in the backup. Two end after it, one of them by an operator. */
let ends: RunRecord;
let terminated: RunRecord;
/** Ends after it as well; its webhook has failed for good before the restore. */
let dropped: RunRecord;
/** In the backup: ended, during its first attempt. */
let pendingRun: RunRecord;
/** After the backup: ended, with attempts left. */
let lost: RunRecord;

const behave: Behaviour = (response, { body }) => {
  if (isTaking) response.writeHead(204).end();
  else if (!body.includes(slow)) response.writeHead(500).end();
};

beforeAll(async () => {
  fixture = await startFaultFixture({ env: { RECONCILE_EVERY_MS: '1000' }, behave });
});
afterAll(() => fixture?.stop());

const begin = (prompt: string): Promise<RunRecord> =>
  fixture.service.trigger({ prompt, callbackUrl: `${fixture.receiver.url}/hook` });

const untilPosts = (run: RunRecord, posts: number): Promise<void> =>
  expect.poll(() => postsOf(fixture.receiver, run).length, pollOptions).toBe(posts);

const stateOf = async ({ runId }: RunRecord) =>
  (await fixture.service.readRun(runId)).webhook.state;

it('is restored in the middle of the attempts', async () => {
  const { service } = fixture;
  const flowrun = cliWith(commandEnv(service));
  const file = join(service.dataDir, 'backup');
  [ends, terminated, dropped] = await Promise.all([begin(waits), begin(waits), begin(waits)]);
  for (const run of [ends, terminated, dropped]) await untilWorking(service, run);
  pendingRun = await begin(waits);
  slow = pendingRun.runId;
  await untilWorking(service, pendingRun);
  releaseAgent(service, pendingRun.runId);
  await untilPosts(pendingRun, 1);
  await flowrun.json('backup', file, '--without-key');
  await afterBackup();
  await Promise.all([service.api.kill('SIGTERM'), service.worker.kill('SIGTERM')]);
  expect(
    [ends, terminated, pendingRun, lost].map((run) => postsOf(fixture.receiver, run).length),
  ).toEqual([3, 3, 3, 3]);
  isTaking = true;
  await flowrun.json('restore', file, '--replace');
  await Promise.all([service.api.start(), service.worker.start()]);
});

/** All attempts take 42 s, and the state with one attempt left lasts 30 s. */
async function afterBackup(): Promise<void> {
  const { service } = fixture;
  releaseAgent(service, dropped.runId);
  await untilPosts(dropped, 3);
  await sleep(8_000);
  releaseAgent(service, ends.runId);
  const { rows } = await service.database.pool.query<{ id: string }>(
    'select workflow_id as id from runs where id = $1',
    [terminated.runId],
  );
  await terminateByCommand(stackEnv.temporalAddress, rows[0]?.id ?? '');
  lost = await begin(script([{ say: 'Lost.' }]));
  await untilPosts(dropped, 4);
  await expect.poll(() => stateOf(dropped), pollOptions).toBe('dropped');
  for (const run of [ends, terminated, lost]) await untilPosts(run, 3);
}

const bodyOf = (body: string) => JSON.parse(body) as { error?: string };
const attemptsOf = (run: RunRecord) =>
  postsOf(fixture.receiver, run).map(({ headers }) => headers['x-service-attempt']);
const all = ['1', '2', '3', '4'];

it.each([
  ['its own workflow', () => ends, [undefined, undefined, undefined]],
  ['another workflow', () => terminated, Array(3).fill('terminated_by_operator')],
])(
  'reports by %s, in the last attempt, the end of a run that is active in the backup',
  async (...given) => {
    const [, run, before] = given;
    await untilPosts(run(), 4);
    await expect.poll(() => stateOf(run()), pollOptions).toBe('delivered');
    expect(attemptsOf(run())).toEqual(all);
    const errors = postsOf(fixture.receiver, run()).map(({ body }) => bodyOf(body).error);
    expect(errors).toEqual([...before, 'max_reconnects_exceeded']);
    expect(await fixture.service.readRun(run().runId)).toMatchObject({
      error: 'max_reconnects_exceeded',
    });
  },
);

it('delivers a webhook that is pending in the backup by the same workflow, with the same body', async () => {
  await untilPosts(pendingRun, 4);
  await expect.poll(() => stateOf(pendingRun), pollOptions).toBe('delivered');
  expect(attemptsOf(pendingRun)).toEqual(all);
  expect(new Set(postsOf(fixture.receiver, pendingRun).map(({ body }) => body)).size).toBe(1);
});

it('neither restarts a failed webhook nor reports unknown runs', async () => {
  const { service } = fixture;
  await service.untilEnded(dropped.runId, pollOptions.timeout);
  await expect.poll(() => stateOf(dropped), pollOptions).toBe('dropped');
  const error = async () => (await service.readRun(lost.runId)).error;
  await expect.poll(error, pollOptions).toBe('lost_in_restore');
  const open = `select count(*)::int as count from runs where webhook_state in ('waiting', 'pending')`;
  const owing = async () =>
    (await service.database.pool.query<{ count: number }>(open)).rows[0]?.count;
  await expect.poll(owing, pollOptions).toBe(0);
  expect([dropped, lost].map((run) => postsOf(fixture.receiver, run).length)).toEqual([4, 3]);
});
