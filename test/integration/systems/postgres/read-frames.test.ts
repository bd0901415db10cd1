import { expect, test } from 'vitest';
import type { Frame } from '../../../../core/frames/frame.ts';
import { output, useFrameLog } from './use-frame-log.ts';

const { run, frames } = useFrameLog();
const write = (all: Frame[]) => frames().appendOwn({ runId: run.runId, frames: all });
const chat: Frame = { event: 'assistant', data: '{}', channel: 'chat' };
const other: Frame = { event: 'agent_status', data: '{}', channel: 'other' };

test('a page has the frames between two numbers, in either order, of one channel or all', async () => {
  await write([output('a'), chat, other, output('b'), chat, other]);
  const seqs = async (query: Parameters<ReturnType<typeof frames>['read']>[1]) =>
    (await frames().read(run.runId, query)).map((frame) => frame.seq);
  expect(await seqs({ order: 'asc', limit: 10 })).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await seqs({ order: 'asc', limit: 2, afterSeq: 3 })).toEqual([4, 5]);
  expect(await seqs({ order: 'desc', limit: 2 })).toEqual([6, 5]);
  expect(await seqs({ order: 'desc', limit: 9, beforeSeq: 3 })).toEqual([2, 1]);
  expect(await seqs({ order: 'asc', limit: 9, afterSeq: 1, beforeSeq: 4 })).toEqual([2, 3]);
  expect(await seqs({ order: 'asc', limit: 9, channel: 'chat' })).toEqual([2, 5]);
  expect(await seqs({ order: 'desc', limit: 1, channel: 'output' })).toEqual([4]);
  expect(await seqs({ order: 'asc', limit: 9, afterSeq: 6 })).toEqual([]);
});

test('a page with a size limit ends with the frame that reaches it, and is never empty', async () => {
  const wide: Frame = { ...chat, data: JSON.stringify('x'.repeat(98)) };
  await write([wide, wide, wide, wide]);
  const page = (maxBytes: number) =>
    frames().read(run.runId, { order: 'asc', limit: 10, maxBytes });
  expect(await page(1)).toHaveLength(1);
  expect(await page(100)).toHaveLength(1);
  expect(await page(101)).toHaveLength(2);
  expect(await page(300)).toHaveLength(3);
  expect(await page(9_999)).toHaveLength(4);
  const last = await frames().read(run.runId, { order: 'desc', limit: 10, maxBytes: 150 });
  expect(last.map((frame) => frame.seq)).toEqual([4, 3]);
});

const tail = (maxBytes: number, uptoSeq = 1e9) =>
  frames().renderedTail(run.runId, { maxBytes, uptoSeq });

test('the rendered log is complete if it fits, up to the requested number', async () => {
  await write([output('one\n'), chat, output('two\n'), output('thr')]);
  await write([output('ee\n')]);
  expect(await tail(100)).toBe('one\ntwo\nthree\n');
  expect(await tail(14)).toBe('one\ntwo\nthree\n');
  expect(await tail(100, 3)).toBe('one\ntwo\n');
  expect(await tail(100, 0)).toBe('');
});

test('the tail of a longer log starts with a whole line', async () => {
  await write([output('one\n'), output('two\nthree\n')]);
  expect(await tail(13)).toBe('two\nthree\n');
  expect(await tail(10)).toBe('two\nthree\n');
  expect(await tail(9)).toBe('three\n');
  expect(await tail(6)).toBe('three\n');
});

test('a line longer than the limit is cut to its end, in whole characters', async () => {
  await write([output('one\n'), output('€€€\n')]);
  expect(await tail(6)).toBe('€\n');
  expect(await tail(7)).toBe('€€\n');
});

test('a log of many pages returns its last lines', async () => {
  const lines = Array.from({ length: 3_000 }, (_, n) => `line ${n}\n`);
  await write(lines.map(output));
  const text = await tail(20_000);
  expect(lines.join('').endsWith(text)).toBe(true);
  expect(text.startsWith('line ')).toBe(true);
  expect(text.length).toBeGreaterThan(19_980);
  expect(await tail(1_000_000)).toBe(lines.join(''));
});
