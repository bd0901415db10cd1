import { expect, test } from 'vitest';
import { contents, digestOf, useRunFiles } from './run-files.ts';

const { download } = useRunFiles();

test.each([
  ['bytes=0-0', '0', 'bytes 0-0/10'],
  ['bytes=2-4', '234', 'bytes 2-4/10'],
  ['bytes=7-', '789', 'bytes 7-9/10'],
  ['bytes=-3', '789', 'bytes 7-9/10'],
  ['bytes=-99', '0123456789', null],
  ['bytes=5-99', '56789', 'bytes 5-9/10'],
  ['bytes=0-9', '0123456789', null],
  ['bytes=4-2', '0123456789', null],
  ['bytes=0-1,3-4', '0123456789', null],
  ['items=0-1', '0123456789', null],
])('answers the range %s with %s', async (range, text, contentRange) => {
  const answer = await download('a.txt', { range });
  expect(await answer.text()).toBe(text);
  expect(answer.headers.get('content-range')).toBe(contentRange);
  expect(answer.status).toBe(contentRange === null ? 200 : 206);
});

test('serves a range across blob chunks, and answers 416 beyond the end', async () => {
  const answer = await download('big.bin', { range: 'bytes=1048570-1048590' });
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(bytes.equals(contents['big.bin']?.subarray(1048570, 1048591) ?? Buffer.alloc(0))).toBe(
    true,
  );
  for (const [path, range] of [
    ['a.txt', 'bytes=10-'],
    ['a.txt', 'bytes=-0'],
    ['empty', 'bytes=0-'],
  ] as const) {
    const beyond = await download(path, { range });
    expect(beyond.status).toBe(416);
    expect(beyond.headers.get('content-range')).toBe(`bytes */${path === 'empty' ? 0 : 10}`);
    expect(await beyond.json()).toMatchObject({ error: { code: 'RANGE_NOT_SATISFIABLE' } });
    expect(beyond.headers.get('content-disposition')).toBeNull();
  }
});

test('answers a range of an outdated version with the whole current file', async () => {
  const range = 'bytes=0-1';
  expect((await download('a.txt', { range, 'if-range': '"before"' })).status).toBe(200);
  const etag = `"${digestOf(Buffer.from('0123456789'))}"`;
  expect((await download('a.txt', { range, 'if-range': etag })).status).toBe(206);
});
