import { beforeAll, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { type Answer, caller } from './call.ts';
import { assistant, type LogWriter, output, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();
let log: LogWriter;
let over: LogWriter;

const other = (data: string) => ({ event: 'agent_status', channel: 'other', data }) as const;

beforeAll(async () => {
  log = await triggerRun(fixture, { url: api.url, ...tenant });
  await log.write([output('one\n'), assistant('one'), other('{"status":"working"}')]);
  await log.write([output('two ü\n'), assistant('two')]);
  over = await triggerRun(fixture, { url: api.url, ...tenant });
  await over.write([output('a\n'), assistant('a'), output('b\n')]);
  await over.end();
});

const read = (query: string, from = log): Promise<Answer> =>
  caller(api, tenant.key)(`/api/v1/runs/${from.runId}/logs${query}`);
const seqs = ({ json }: Answer) => json.data.entries.map(({ seq }: { seq: number }) => seq);

test('returns rendered text by default', async () => {
  const { status, json } = await read('');
  expect([status, json]).toEqual([
    200,
    {
      data: {
        runId: log.runId,
        format: 'text',
        content: 'one\ntwo ü\n',
        fromSeq: 1,
        toSeq: 4,
        complete: false,
      },
    },
  ]);
});

test('returns the frames of the stream as entries', async () => {
  const { json } = await read('?format=structured&channel=all');
  expect(json.data).toEqual({
    runId: log.runId,
    format: 'structured',
    channel: 'all',
    entries: log.stored.map(({ seq, at, event, data }) => ({
      seq,
      timestamp: at.toISOString(),
      event,
      data: JSON.parse(data),
    })),
    nextSeq: 5,
    complete: false,
  });
  expect(seqs(await read('?format=structured&channel=chat'))).toEqual([2, 5]);
  expect(seqs(await read('?format=structured'))).toEqual([1, 4]);
});

test('returns numbers that JavaScript cannot represent unchanged', async () => {
  const own = await triggerRun(fixture, { url: api.url, ...tenant });
  const data = '{"n":12345678901234567890.10,"t":"\\u0000","a": 1e999}';
  await own.write([{ event: 'assistant', channel: 'chat', data }]);
  expect((await read('?format=structured&channel=chat', own)).text).toContain(`"data":${data}}`);
});

test('pages forwards and backwards', async () => {
  const all = '?format=structured&channel=all&limit=2';
  const first = await read(all);
  expect([seqs(first), first.json.data.nextSeq, first.json.data.complete]).toEqual([
    [1, 2],
    2,
    false,
  ]);
  expect(seqs(await read(`${all}&afterSeq=2`))).toEqual([3, 4]);
  const last = await read(`${all}&afterSeq=4`);
  expect([seqs(last), last.json.data.complete]).toEqual([[5], false]);
  const none = await read(`${all}&afterSeq=5`);
  expect([seqs(none), none.json.data.nextSeq]).toEqual([[], 5]);
  const back = await read(`${all}&order=desc&beforeSeq=4`);
  expect([seqs(back), back.json.data.nextSeq, back.json.data.complete]).toEqual([[3, 2], 2, false]);
  const start = await read(`${all}&order=desc&beforeSeq=2`);
  expect([seqs(start), start.json.data.complete]).toEqual([[1], true]);
  expect(seqs(await read(`${all}&afterSeq=1&beforeSeq=4&order=desc`))).toEqual([3, 2]);
  expect((await read('?order=desc&limit=1')).json.data.content).toBe('two ü\n');
});

test('is complete when the run has ended and nothing can follow', async () => {
  const state = async (query: string) => (await read(query, over)).json.data.complete;
  expect(await state('')).toBe(true);
  expect(await state('?limit=1')).toBe(false);
  expect(await state('?limit=1&afterSeq=1')).toBe(true);
  expect(await state('?format=structured&channel=chat')).toBe(true);
  expect(await state('?afterSeq=99')).toBe(true);
});

test('rejects unknown parameters', async () => {
  for (const query of [
    '?limit=0',
    '?limit=1001',
    '?format=json',
    '?channel=other',
    '?order=up',
    '?afterSeq=-1',
    '?channel=chat',
    '?follow=1',
  ]) {
    expect((await read(query)).status, query).toBe(400);
  }
  expect((await read('?limit=1000')).status).toBe(200);
});

test('limits a page by size, and returns where to continue', async () => {
  const own = await triggerRun(fixture, { url: api.url, ...tenant });
  const text = 'z'.repeat(0.45 * limits.page.logMaxBytes);
  for (let i = 0; i < 5; i += 1) await own.write([assistant(text)]);
  const page = await read('?format=structured&channel=chat', own);
  expect(seqs(page)).toEqual([1, 2, 3]);
  expect(seqs(await read('?format=structured&channel=chat&afterSeq=3', own))).toEqual([4, 5]);
});
