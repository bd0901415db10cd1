import { describe, expect, test } from 'vitest';
import { noUsage } from '../../../../core/runs/run.ts';
import type { Batch } from '../../../../systems/postgres/log/append-frames.ts';
import { chat, output, useFrameLog } from './use-frame-log.ts';

const { run, frames, runs, lease, batch } = useFrameLog();

const readAll = () => frames().read(run.runId, { order: 'asc', limit: 1_000 });

describe('appending', () => {
  test('numbers frames from 1 without a gap and moves the offset', async () => {
    const { token } = await lease();
    const first = batch(token, { toOffset: 10, frames: [output('a'), chat(1)] });
    const second = batch(token, { fromOffset: 10, toOffset: 25, frames: [chat(2)] });
    const at = expect.any(Date);
    expect(await frames().append(first)).toEqual({
      outcome: 'stored',
      firstSeq: 1,
      lastSeq: 2,
      at,
    });
    expect(await frames().append(second)).toEqual({
      outcome: 'stored',
      firstSeq: 3,
      lastSeq: 3,
      at,
    });
    const stored = [output('a'), chat(1), chat(2)].map((frame, i) => ({
      ...frame,
      seq: i + 1,
      at,
    }));
    expect(await readAll()).toEqual(stored);
    expect(await frames().progress(run.runId)).toMatchObject({ lastSeq: 3 });
    expect(await runs().find(run.runId)).toMatchObject({ lastSeq: 3 });
  });

  test('a batch without frames only moves the offset', async () => {
    const { token } = await lease();
    const empty = await frames().append(batch(token, { toOffset: 5 }));
    expect(empty).toMatchObject({ outcome: 'stored', firstSeq: 1, lastSeq: 0 });
    const next = batch(token, { fromOffset: 5, toOffset: 6, frames: [chat(1)] });
    expect(await frames().append(next)).toMatchObject({ firstSeq: 1, lastSeq: 1 });
  });

  test('a repeated batch is recognized and not stored twice, even after frames of the service', async () => {
    const { token } = await lease();
    const same = batch(token, { toOffset: 9, frames: [chat(1), chat(2)] });
    const first = await frames().append(same);
    await frames().appendOwn({ runId: run.runId, frames: [chat(3)] });
    expect(await frames().append(same)).toEqual(first);
    expect(await readAll()).toHaveLength(3);
  });

  test('a repeated batch is not recognized after the lease was lost, nor in another sandbox', async () => {
    const { token } = await lease();
    const same = batch(token, { toOffset: 9, frames: [chat(1)] });
    expect(await frames().append(same)).toMatchObject({ outcome: 'stored' });
    expect(await frames().append({ ...same, generation: 2 })).toEqual({ outcome: 'fenced' });
    expect(await frames().takeLease(run.runId, 'host', 60_000)).toMatchObject({
      token: token + 1,
    });
    expect(await frames().append(same)).toEqual({ outcome: 'fenced' });
    expect(await readAll()).toHaveLength(1);
  });

  test('a batch with another offset, generation or lease writes nothing', async () => {
    const { token } = await lease();
    await frames().append(batch(token, { toOffset: 10, frames: [chat(1)] }));
    for (const stale of [
      batch(token, { fromOffset: 0, toOffset: 20, frames: [chat('9')] }),
      batch(token, { fromOffset: 4, toOffset: 10, frames: [chat('9')] }),
      batch(token, { fromOffset: 11, toOffset: 20, frames: [chat('9')] }),
      batch(token, { fromOffset: 10, toOffset: 20, generation: 2, frames: [chat('9')] }),
      batch(token - 1, { fromOffset: 10, toOffset: 20, frames: [chat('9')] }),
      batch(token + 1, { fromOffset: 10, toOffset: 20, frames: [chat('9')] }),
    ]) {
      const withFacts = { ...stale, facts: { agentStatus: 'error' } as const };
      expect(await frames().append(withFacts)).toEqual({ outcome: 'fenced' });
    }
    expect(await readAll()).toHaveLength(1);
    expect(await runs().find(run.runId)).toMatchObject({ agentStatus: null });
  });

  test('rejects a batch that covers no bytes', async () => {
    const { token } = await lease();
    await expect(frames().append(batch(token, { toOffset: 0 }))).rejects.toThrow(
      'at least one byte',
    );
  });

  test('after the end no frame is written, no lease is granted or renewed, and no sandbox is started', async () => {
    const { token } = await lease();
    await runs().endRun({ runId: run.runId, cause: 'completed', detail: null, exitCode: 0 });
    const late = batch(token, { frames: [chat(1)] });
    expect(await frames().append(late)).toEqual({ outcome: 'fenced' });
    expect(await frames().appendOwn({ runId: run.runId, frames: [chat(1)] })).toEqual({
      outcome: 'fenced',
    });
    expect(await frames().renewLease(run.runId, token, 1_000)).toBe('lost');
    expect(await frames().beginGeneration(run.runId, token, 2)).toBe(false);
    expect(await frames().takeLease(run.runId, 'host', 1_000)).toBeNull();
    expect(await frames().progress(run.runId)).toMatchObject({ lastSeq: 0, endCause: 'completed' });
  });

  test('keeps every text: escapes, raw NUL, half a surrogate, quotes, many bytes', async () => {
    const texts = [
      '{"a":"\\u0000"}',
      '{"a":"\\ud800"}',
      `{"a":"'\\"{},NULL"}`,
      '{"a":"€\u{1f600}"}',
    ];
    const { token } = await lease();
    const data = [...texts, '{"raw":"\0"}', '{"half":"\ud800"}', `"${'x'.repeat(9_000_000)}"`];
    const all = data.map((text) => ({ ...chat(0), data: text }));
    await frames().append(batch(token, { frames: all }));
    const kept = (await readAll()).map((frame) => frame.data);
    expect(kept.slice(0, 4)).toEqual(texts);
    expect(kept[4]).toBe('{"raw":"\\u0000"}');
    expect(kept[5]).toBe('{"half":"\ufffd"}');
    expect(kept[6]).toHaveLength(9_000_002);
  });
});

describe('what a batch implies about its run', () => {
  const turn = {
    result: 'done',
    structuredOutput: '{"ok":true}',
    numTurns: 2,
  };
  const say = (facts: Batch['facts']) =>
    frames().appendOwn({ runId: run.runId, frames: [], facts });

  test('is stored with its frames; turns add up, structured output stays, the result is replaced', async () => {
    await say({ agentStatus: 'working' });
    await say({ agentStatus: 'idle', turn });
    expect(await runs().find(run.runId)).toMatchObject({ ...turn, agentStatus: 'idle' });
    await say({ turn: { ...turn, result: null, structuredOutput: null } });
    expect(await runs().find(run.runId)).toMatchObject({
      agentStatus: 'idle',
      result: null,
      structuredOutput: turn.structuredOutput,
      numTurns: 4,
      // Only the ledger changes them.
      usage: noUsage,
      spending: { calls: 0, costNanos: null },
    });
  });

  test('never blocks the log, even if an agent claims an absurd number of turns', async () => {
    const monstrous = { ...turn, result: 'a\0b\ud800', numTurns: 2_000_000_000 };
    for (let i = 0; i < 3; i += 1) await say({ turn: monstrous });
    expect(await runs().find(run.runId)).toMatchObject({
      result: 'a\ufffdb\ufffd',
      numTurns: 2e9,
    });
  });
});
