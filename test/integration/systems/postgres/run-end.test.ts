import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { endCauses, errorOf } from '../../../../core/runs/end-cause.ts';
import { webhookBody } from '../../../../core/webhook.ts';
import { createRunConfigStore } from '../../../../systems/postgres/admission/run-config-store.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import { setupFreshScenario, useSecondPool } from './setup-scenario.ts';

const { database, scenario } = setupFreshScenario();
const second = useSecondPool(database);

const runs = (pool = database.pool) => createRunStore(pool, testSealer);
const configs = () => createRunConfigStore(database.pool, testSealer);
const callbackUrl = 'https://hooks.example/run';

async function webhookOf(runId: string) {
  const text = `
    select webhook_state as state, webhook_body as body, webhook_delivery_id as id from runs
    where id = $1`;
  const { rows } = await database.pool.query(text, [runId]);
  return rows[0];
}

async function waitingForLocks(): Promise<number> {
  const { rows } = await second().query<{ n: number }>(
    `select count(*) as n from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0]?.n ?? 0;
}

describe('the end', () => {
  test('sets sleep, cause, exit code and a frozen webhook, and deletes the configuration', async () => {
    const { runId } = await scenario.run({ callbackUrl, labels: { a: '1' } });
    await runs().markStarted(runId, 1, 'idle');
    const before = await runs().find(runId);
    const exited = { cause: 'exited', detail: null, exitCode: 3 } as const;
    const ended = await runs().endRun({ runId, ...exited, filesStored: true });
    expect(ended).toMatchObject({ webhook: true, cause: 'exited', hasUnstoredFiles: false });
    expect(ended.run).toEqual({
      ...before,
      status: 'sleep',
      endCause: 'exited',
      exitCode: 3,
      endedAt: expect.any(Date),
      webhook: { state: 'pending', attempts: 0, lastStatus: null },
    });
    expect(await runs().find(runId)).toEqual(ended.run);
    expect(await configs().read({ runId, generation: 1 })).toBeNull();
    const finishedAt = ended.run.endedAt ?? new Date(0);
    const body = webhookBody({ run: ended.run, end: exited, finishedAt, files: null });
    expect(await webhookOf(runId)).toEqual({ state: 'pending', body, id: expect.any(String) });
    expect(JSON.parse(body)).toMatchObject({ error: 'Process exited with code 3' });
  });

  test.each([
    ['exited', 'working', 'error'],
    ['timed_out', 'waiting', 'error'],
    ['completed', 'working', 'idle'],
    ['completed', 'error', 'error'],
    ['stopped_by_api', 'idle', 'idle'],
  ] as const)('%s, of a run that was %s, leaves its agent %s', async (cause, before, after) => {
    const { runId } = await scenario.run({ callbackUrl });
    const facts = { agentStatus: before };
    await createFrameStore(database.pool).appendOwn({ runId, frames: [], facts });
    const { run } = await runs().endRun({ runId, cause, detail: null, exitCode: null });
    expect(run.agentStatus).toBe(after);
    expect(await runs().find(runId)).toMatchObject({ agentStatus: after });
    const { body } = await webhookOf(runId);
    expect(JSON.parse(body)).toMatchObject({ agentStatus: after });
  });

  test('creates no webhook for a run without a callback', async () => {
    const { runId } = await scenario.run();
    const ended = await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
    expect(ended.webhook).toBe(false);
    expect(await webhookOf(runId)).toEqual({ state: 'none', body: null, id: null });
  });

  test('has the recorded cause with its detail, and the exit code of the request', async () => {
    const { runId } = await scenario.run({ callbackUrl });
    await runs().recordCause({ runId, cause: 'container_start_failed', detail: 'no image' });
    const given = { runId, cause: 'exited', detail: 'other', exitCode: 137 } as const;
    const { cause, run } = await runs().endRun(given);
    expect(cause).toBe('container_start_failed');
    expect(run).toMatchObject({ endDetail: 'no image', exitCode: 137 });
    const { body } = await webhookOf(runId);
    expect(JSON.parse(body)).toMatchObject({ error: 'container_start_failed: no image' });
  });

  test('happens once: a second call returns the result of the first', async () => {
    const { runId } = await scenario.run({ callbackUrl });
    const first = await runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
    const webhook = await webhookOf(runId);
    const again = await runs().endRun({ runId, cause: 'stalled', detail: 'x', exitCode: 9 });
    expect(again).toEqual(first);
    expect(await webhookOf(runId)).toEqual(webhook);
  });

  test('happens once for sixty concurrent calls, and one webhook is claimed', async () => {
    const { runId } = await scenario.run({ callbackUrl });
    const ends = await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        const cause = endCauses[n % endCauses.length] ?? 'exited';
        return runs(n % 2 ? second() : database.pool).endRun({
          runId,
          cause,
          detail: null,
          exitCode: n,
        });
      }),
    );
    expect(ends).toEqual(Array.from({ length: 60 }, () => ends[0]));
    const [first] = ends;
    if (!first) throw new Error('nothing ended');
    const { endedAt, endDetail: detail, exitCode } = first.run;
    const body = JSON.parse((await webhookOf(runId)).body);
    expect(body).toMatchObject({ finishedAt: endedAt?.toISOString(), exitCode });
    expect(body.error ?? null).toBe(errorOf({ cause: first.cause, detail, exitCode }));
  });

  test('is consistent and without deadlock beside concurrent causes, deletes and frames', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { runId } = await scenario.run({ callbackUrl });
      const frames = createFrameStore(second());
      const own = { event: 'session_ready', data: '{}', channel: 'chat' } as const;
      const [stands, deleted, ended] = await Promise.all([
        runs(second()).recordCause({ runId, cause: 'stopped_by_api', detail: null }),
        runs(second()).markDeleted(runId),
        runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 }),
        frames.appendOwn({ runId, frames: [own], facts: { agentStatus: 'working' } }),
      ]);
      const run = await runs().find(runId);
      expect(run).toEqual({ ...ended.run, deletedAt: expect.any(Date) });
      expect(stands).toBe(run?.endCause);
      expect(deleted).toMatchObject({ endCause: stands });
      const stored = await frames.read(runId, { order: 'asc', limit: 10 });
      expect(stored).toHaveLength(run?.lastSeq ?? -1);
    }
  });

  test('waits for a cause that is being recorded, and uses it', async () => {
    const { runId } = await scenario.run({ callbackUrl });
    const recorder = await second().connect();
    await recorder.query('begin');
    await recorder.query(
      `update runs set end_cause = 'stopped_by_api', end_cause_at = db_clock() where id = $1`,
      [runId],
    );
    const ending = runs().endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
    await expect.poll(waitingForLocks).toBe(1);
    await recorder.query('commit');
    recorder.release();
    expect(await ending).toMatchObject({ cause: 'stopped_by_api' });
    const { body } = await webhookOf(runId);
    expect(JSON.parse(body)).toMatchObject({ error: 'stopped_by_api' });
  });

  test('of an unknown run is an error', async () => {
    const nobody = { runId: randomUUID(), cause: 'stalled', detail: null, exitCode: null } as const;
    await expect(runs().endRun(nobody)).rejects.toThrow('does not exist');
  });

  test('writes nothing if it fails midway', async () => {
    const { runId } = await scenario.run({ callbackUrl });
    const before = await runs().find(runId);
    const wrong = { runId, cause: 'exited', detail: null, exitCode: 2 ** 40 } as const;
    await expect(runs().endRun(wrong)).rejects.toThrow('out of range');
    expect(await runs().find(runId)).toEqual(before);
    expect(await configs().read({ runId, generation: 1 })).not.toBeNull();
    expect(await createFrameStore(database.pool).takeLease(runId, 'host', 1_000)).not.toBeNull();
  });
});

describe('the files of a run at its end', () => {
  const completed = { cause: 'completed', detail: null, exitCode: 0 } as const;
  const failed = { state: 'failed', skippedCount: 0, skipped: [] };

  async function started(hostId: string = randomUUID()): Promise<string> {
    const { runId } = await scenario.run({ callbackUrl });
    await database.pool.query('update runs set host_id = $2 where id = $1', [runId, hostId]);
    await runs().markStarted(runId, 1, 'idle');
    return runId;
  }

  /** In the record and in the webhook. */
  async function filesOf(runId: string) {
    const { body } = await webhookOf(runId);
    return [await runs().findStoredFiles(runId), JSON.parse(body).files];
  }

  test('are failed if they were not stored, and needed on the host', async () => {
    const hostId = randomUUID();
    const runId = await started(hostId);
    const ends = [{ filesStored: false }, { filesStored: true }];
    for (const given of ends) {
      const ended = await runs().endRun({ runId, ...completed, ...given });
      expect(ended).toMatchObject({ cause: 'completed', hasUnstoredFiles: true });
    }
    expect(await filesOf(runId)).toEqual([failed, failed]);
    const needed = { runId, generation: 1, hasUnstoredFiles: true };
    expect(await runs().neededOnHost(hostId)).toEqual([needed]);
    expect(await runs().neededOnHost(randomUUID())).toEqual([]);

    await runs().markDeleted(runId);
    expect(await runs().neededOnHost(hostId)).toEqual([]);
  });

  test('are failed if the workflow that would have stored them is gone', async () => {
    const runId = await started();
    expect(await runs().endRun({ runId, ...completed })).toMatchObject({ hasUnstoredFiles: true });
  });

  test('are none if the run was not started, was deleted, or left nothing to store', async () => {
    const { runId: unstarted } = await scenario.run({ callbackUrl });
    await runs().endRun({ runId: unstarted, ...completed, filesStored: false });
    expect(await filesOf(unstarted)).toEqual([null, null]);
    const hostId = randomUUID();
    const deleted = await started(hostId);
    await runs().markDeleted(deleted);
    await runs().endRun({ runId: deleted, ...completed, filesStored: false });
    expect(await filesOf(deleted)).toEqual([null, null]);
    const empty = await started(hostId);
    await runs().endRun({ runId: empty, ...completed, filesStored: true });
    expect(await filesOf(empty)).toEqual([null, null]);
    expect(await runs().neededOnHost(hostId)).toEqual([]);
  });
});
