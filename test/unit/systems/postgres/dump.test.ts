import { PassThrough, Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { PgTools } from '../../../../systems/postgres/client/pg-tools.ts';
import { dump } from '../../../../systems/postgres/maintenance/dump.ts';

const saying = (chunks: string[], ended = Promise.resolve()): PgTools => ({
  start: () => ({ input: new PassThrough(), output: Readable.from(chunks), ended }),
});

test('returns only after a slow destination has received all output', async () => {
  const taken: string[] = [];
  const slow = new Writable({
    write: (chunk: Buffer, _encoding, done) =>
      void sleep(20).then(() => {
        taken.push(chunk.toString());
        done();
      }),
  });
  await dump(saying(['one', 'two', 'three']), slow);
  expect(taken).toEqual(['one', 'two', 'three']);
});

test('fails with the error of the program', async () => {
  const failed = Promise.reject(new Error('pg_dump failed: no such database'));
  failed.catch(() => undefined);
  await expect(dump(saying([], failed), new PassThrough().resume())).rejects.toThrow('no such');
});
