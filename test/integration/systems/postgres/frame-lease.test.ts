import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { initialAgentState } from '../../../../core/agent/agent-state.ts';
import { chat, useFrameLog } from './use-frame-log.ts';

const { database, run, frames, runs, lease, leased, batch } = useFrameLog();

describe('the lease', () => {
  const expire = () =>
    database.pool.query('update run_logs set lease_expires_at = db_clock() where run_id = $1', [
      run.runId,
    ]);

  const setQuota = (bytes: number | null) =>
    database.pool.query(
      `update projects p set storage_quota_bytes = $2
       from runs r where r.id = $1 and p.id = r.project_id`,
      [run.runId, bytes],
    );

  test('belongs to one owner until it expires, and starts at the end of the log', async () => {
    const first = await frames().takeLease(run.runId, 'one', 60_000);
    const start = { generation: 1, byteOffset: 0, lastSeq: 0, agentState: initialAgentState };
    expect(first).toEqual({ token: 1, ...start });
    expect(await frames().takeLease(run.runId, 'two', 60_000)).toBeNull();
    const memory = { ...initialAgentState, isInTurn: true };
    await frames().append(batch(1, { toOffset: 42, frames: [chat(1)], agentState: memory }));
    await expire();
    expect(await frames().takeLease(run.runId, 'two', 60_000)).toEqual({
      token: 2,
      generation: 1,
      byteOffset: 42,
      lastSeq: 1,
      agentState: memory,
    });
  });

  test('can be retaken at once by its restarted owner', async () => {
    await frames().takeLease(run.runId, 'one', 60_000);
    expect(await frames().takeLease(run.runId, 'one', 60_000)).toMatchObject({ token: 2 });
    expect(await frames().append(batch(1, { frames: [chat(1)] }))).toEqual({ outcome: 'fenced' });
  });

  test('an expired lease remains valid until another owner takes it', async () => {
    const { token } = await lease();
    await expire();
    expect(await frames().append(batch(token, { frames: [chat(1)] }))).toMatchObject({
      lastSeq: 1,
    });
    expect(await frames().renewLease(run.runId, token, 60_000)).toBe('renewed');
    expect(await frames().takeLease(run.runId, 'two', 60_000)).toBeNull();
    await expire();
    await frames().takeLease(run.runId, 'two', 60_000);
    expect(await frames().renewLease(run.runId, token, 60_000)).toBe('lost');
    const own = { runId: run.runId, frames: [chat(2)], token };
    expect(await frames().appendOwn(own)).toEqual({ outcome: 'fenced' });
  });

  test("a renewal fails if it is not answered within the lease's time", async () => {
    const { token } = await lease();
    const holding = await database.pool.connect();
    try {
      await holding.query('begin');
      await holding.query('select from run_logs where run_id = $1 for update', [run.runId]);
      const renewal = frames().renewLease(run.runId, token, 100);
      await expect(renewal).rejects.toThrow('Query read timeout');
    } finally {
      await holding.query('rollback');
      holding.release();
    }
    expect(await frames().renewLease(run.runId, token, 60_000)).toBe('renewed');
  });

  test('is renewed with others in one statement, and each has its own answer', async () => {
    const { token } = await lease();
    const [taken, ended] = [await leased(), await leased()];
    await frames().takeLease(taken.runId, 'host', 60_000);
    await database.pool.query('update run_logs set is_final = true where run_id = $1', [
      ended.runId,
    ]);
    const unknown = { runId: randomUUID(), token: 1 };
    const held = [taken, { runId: run.runId, token }, ended, unknown];
    await expire();
    expect(await frames().renewLeases(held, 60_000)).toEqual(['lost', 'renewed', 'lost', 'lost']);
    expect(await frames().takeLease(run.runId, 'two', 60_000)).toBeNull();
    await setQuota(0);
    expect(await frames().renewLeases(held.slice(0, 2), 60_000)).toEqual(['lost', 'over_quota']);
    await setQuota(null);
    expect(await frames().renewLeases([], 60_000)).toEqual([]);
  });

  test('is left out while its log is being written, and the others are renewed at once', async () => {
    const { token } = await lease();
    const other = await leased();
    const holding = await database.pool.connect();
    try {
      await holding.query('begin');
      await holding.query('select from run_logs where run_id = $1 for update', [run.runId]);
      const held = [{ runId: run.runId, token }, other];
      expect(await frames().renewLeases(held, 60_000)).toEqual(['busy', 'renewed']);
    } finally {
      await holding.query('rollback');
      holding.release();
    }
    expect(await frames().renewLeases([{ runId: run.runId, token }], 60_000)).toEqual(['renewed']);
  });

  test('cannot be taken for an unknown run', async () => {
    expect(await frames().takeLease(randomUUID(), 'one', 60_000)).toBeNull();
    expect(await frames().progress(randomUUID())).toBeNull();
  });

  test('a new generation reads its spool from the start, and the old one can no longer write', async () => {
    const { token } = await lease();
    await frames().append(batch(token, { toOffset: 10, frames: [chat(1)] }));
    expect(await frames().beginGeneration(run.runId, token + 1, 2)).toBe(false);
    expect(await frames().beginGeneration(run.runId, token, 2)).toBe(true);
    expect(await frames().beginGeneration(run.runId, token, 2)).toBe(false);
    const old = batch(token, { fromOffset: 10, toOffset: 20, frames: [chat(2)] });
    expect(await frames().append(old)).toEqual({ outcome: 'fenced' });
    const next = batch(token, { generation: 2, frames: [chat(3)] });
    expect(await frames().append(next)).toMatchObject({ firstSeq: 2 });
    expect(await runs().find(run.runId)).toMatchObject({ generation: 2 });
  });

  test('a superseded generation cannot start', async () => {
    const { token } = await lease();
    await database.pool.query('update runs set generation = 3 where id = $1', [run.runId]);
    expect(await frames().beginGeneration(run.runId, token, 2)).toBe(false);
    expect(await runs().find(run.runId)).toMatchObject({ generation: 3 });
    expect(await frames().beginGeneration(run.runId, token, 3)).toBe(true);
  });
});
