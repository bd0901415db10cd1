import { appendFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LedgerEntry } from '../../../../core/metering/ledger-entry.ts';
import type { MeteredCall, UnmeteredCall } from '../../../../worker/egress/model/call-meter.ts';
import { readCallJournals } from '../../../../worker/metering/call-journal.ts';
import { recordJournaledCalls } from '../../../../worker/metering/record-journaled-calls.ts';
import { meteredRun } from './metered-run.ts';

const unmetered: UnmeteredCall = {
  endpoint: '/v1/messages',
  answeringModel: 'claude-opus-5-5',
  bytes: 400,
  request: { model: 'claude-opus-5-5', maxTokens: 1_000, stream: false, fields: {} },
  countTokens: async () => null,
};
const body = Buffer.from(
  '{"model":"claude-opus-5-5","usage":{"input_tokens":5,"output_tokens":7}}',
);

type Run = Awaited<ReturnType<typeof meteredRun>>;

async function open({ meter }: Run) {
  const opened = await meter.open(unmetered);
  if (opened.outcome === 'refused') throw new Error(opened.error.message);
  return opened.call;
}

function answer(call: MeteredCall): void {
  call.answered(200, 'application/json');
  call.read(body);
  call.end('answered');
}

const away = (): Promise<never> => Promise.reject(new Error('unavailable'));

describe('a process that dies', () => {
  test('leaves answered calls that the ledger does not have to the next one', async () => {
    const state = { isAway: true };
    const run = await meteredRun({ onRecord: () => (state.isAway ? away() : Promise.resolve()) });
    answer(await open(run));
    answer(await open(run));
    await expect(run.again()).rejects.toThrow('unavailable');
    state.isAway = false;
    const next = await run.again();
    expect(next.recorded).toHaveLength(1);
    expect(next.recorded.flat().map(({ callId }) => callId)).toEqual(
      run.observed.map(({ callId }) => callId),
    );
    expect(next.recorded[0]?.[0]).toEqual(run.observed[0]);
    expect(next.observed).toEqual([]);
  });

  test('leaves calls without an answer, which then have an estimated cost', async () => {
    let now = Date.parse('2026-11-23T10:00:00Z');
    const run = await meteredRun({ now: () => new Date(now) });
    await open(run);
    now += 5_000;
    const [entry, ...more] = (await run.again()).recorded.flat();
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ status: null, isCutOff: true, isEstimated: true });
    expect(entry?.tokens).toMatchObject({ input: 100, output: 500 });
    expect(entry?.endedAt).toEqual(new Date(now));
    expect((await run.again()).recorded).toEqual([]);
  });

  test('leaves the log line and the metric of a call without an answer to the next one, once', async () => {
    const run = await meteredRun();
    answer(await open(run));
    await run.meter.written();
    await open(run);
    const next = await run.again();
    expect(next.observed).toEqual(next.recorded.flat());
    expect(next.observed).toMatchObject([{ status: null, isEstimated: true }]);
    expect(next.logged).toMatchObject([{ msg: 'model_call', callId: next.observed[0]?.callId }]);
    expect((await run.again()).logged).toEqual([]);
  });

  test('leaves an estimate that does not grow while no process runs', async () => {
    let now = Date.parse('2026-11-23T10:00:00Z');
    const run = await meteredRun({ now: () => new Date(now) });
    await run.meter.open({ ...unmetered, request: { ...unmetered.request, maxTokens: 100_000 } });
    now += 24 * 3_600_000;
    const [entry] = (await run.again()).recorded.flat();
    expect(entry?.tokens.output).toBe(6_000);
  });

  test('leaves no rejected call beyond those that the ledger contains', async () => {
    const run = await meteredRun({ onRecord: away });
    for (let n = 0; n < 21; n += 1) {
      const call = await open(run);
      call.answered(400, 'application/json');
      call.end('answered');
    }
    const [left] = await readCallJournals(run.root);
    expect([left?.ended.length, left?.open.length]).toEqual([20, 0]);
  });

  test('while it writes a line loses only that line', async () => {
    const run = await meteredRun({ onRecord: away });
    answer(await open(run));
    const root = run.root;
    const [name = ''] = await readdir(root);
    await appendFile(join(root, name), '{"opened":{"callId":');
    const [left] = await readCallJournals(root);
    expect(left).toMatchObject({ runId: run.runId, ended: [run.observed[0]], open: [] });
  });
});

test('of a sandbox that is removed is written to the ledger first', async () => {
  const run = await meteredRun({ onRecord: away });
  answer(await open(run));
  await open(run);
  run.meter.close();
  const recorded: [string, string[]][] = [];
  const ledger = {
    async record(runId: string, calls: readonly LedgerEntry[]) {
      recorded.push([runId, calls.map(({ callId }) => callId)]);
      return null;
    },
  };
  await recordJournaledCalls({ ledger, modelPrices: {}, now: () => new Date() }, run.root);
  expect(recorded).toEqual([[run.runId, [run.observed[0]?.callId, expect.any(String)]]]);
  await recordJournaledCalls(
    { ledger, modelPrices: {}, now: () => new Date() },
    `${run.root}-gone`,
  );
  expect(recorded).toHaveLength(1);
});

test('is emptied when the ledger has everything, and not before', async () => {
  const run = await meteredRun();
  const file = async (): Promise<string> => {
    const [name = ''] = await readdir(run.root);
    return readFile(join(run.root, name), 'utf8');
  };
  const [first, second] = [await open(run), await open(run)];
  answer(first);
  await run.meter.written();
  expect((await file()).split('\n')).toHaveLength(4);
  answer(second);
  await run.meter.settled();
  expect(await file()).toBe('');
});

test('a ledger that is unavailable is tried again, and the turn waits for it', async () => {
  let failures = 2;
  const run = await meteredRun({
    onRecord: () => (failures-- > 0 ? away() : Promise.resolve()),
  });
  answer(await open(run));
  await run.meter.written();
  expect(run.recorded).toHaveLength(1);
  expect(run.logged.filter(({ msg }) => msg === 'ledger_write_retried')).toHaveLength(2);
});

test('a meter that is closed stops waiting for the ledger', async () => {
  const run = await meteredRun({ onRecord: away });
  answer(await open(run));
  const written = run.meter.written();
  run.meter.close();
  await expect(written).rejects.toThrow();
});
