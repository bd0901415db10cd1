// The limits for the files of a request and of a flow.

import { describe, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { miB, useGivenFiles, utf8 } from './input-file-requests.ts';

const { fixture, tenant, trigger, storage, counts } = useGivenFiles();

describe('limits', () => {
  const big = (path: string, bytes: number) => ({
    path,
    content: Buffer.alloc(bytes, path).toString('base64'),
    encoding: 'base64',
  });

  test('a hundred files', async () => {
    const files = Array.from({ length: 101 }, (_, n) => utf8(`f${n}`, ''));
    expect((await trigger(files)).status).toBe(400);
    expect((await trigger(files.slice(1))).status).toBe(201);
  });

  test('10 MiB a file and 25 MiB a request, at the limit and one beyond', async () => {
    const full = [big('a', 10 * miB), big('b', 10 * miB), big('c', 5 * miB)];
    expect((await trigger([big('a', 10 * miB + 1)])).status).toBe(400);
    expect((await trigger([...full, utf8('d', 'x')])).status).toBe(400);
    expect(await counts()).toEqual({ runs: 0, files: 0 });
    expect((await trigger(full)).status).toBe(201);
    expect((await storage()).usedBytes).toBe(25 * miB);
  });

  test('a path of 512 bytes', async () => {
    const path = `${'x'.repeat(255)}/${'y'.repeat(255)}/z`.slice(1);
    expect(Buffer.byteLength(path)).toBe(512);
    expect((await trigger([utf8(path)])).status).toBe(201);
    expect((await trigger([utf8(`x${path}`.slice(0, 513))])).status).toBe(400);
  });

  const used = (bytes: number, files = 0) =>
    fixture.database.pool.query(
      'update flows set storage_bytes = $2, file_count = $3 where id = $1',
      [tenant.flowId, bytes, files],
    );

  test('500 MiB per flow, with limit and current in the error', async () => {
    await trigger([utf8('.flowignore', '*.mine'), utf8('old', '12345')]);
    const limit = limits.flow.storageBytes;
    await used(limit - 7, 2);
    const over = await trigger([utf8('new', '12345678')]);
    expect(over).toMatchObject({
      status: 400,
      json: { error: { code: 'VALIDATION_ERROR', limit, current: limit - 7 } },
    });
    expect(await counts()).toMatchObject({ runs: 1, files: 2 });
    // Replaced files free their size, and files of the run alone do not count.
    const fits = [utf8('new', '12345678'), utf8('old', '1234'), utf8('a.mine', 'x'.repeat(100))];
    expect((await trigger(fits)).status).toBe(201);
    expect((await storage()).usedBytes).toBe(limit);
    expect((await trigger([utf8('new', '12345678')])).status).toBe(201);
    expect((await trigger([utf8('new', '123456789')])).status).toBe(400);
    expect((await trigger([utf8('b.mine', 'x')])).status).toBe(201);
  });

  test('10 000 files per flow', async () => {
    const limit = limits.flow.filesMax;
    await used(0, limit - 1);
    const over = await trigger([utf8('a', ''), utf8('b', '')]);
    expect(over).toMatchObject({ status: 400, json: { error: { limit, current: limit - 1 } } });
    expect((await trigger([utf8('a', '')])).status).toBe(201);
    expect((await trigger([utf8('b', '')])).status).toBe(400);
  });

  test('are never exceeded by concurrent requests', async () => {
    await used(limits.flow.storageBytes - 35);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => trigger([utf8(`f${n}`, '1234567890')])),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array.from({ length: 3 }, () => 201),
      ...Array.from({ length: 17 }, () => 400),
    ]);
    expect((await storage()).usedBytes).toBe(limits.flow.storageBytes - 5);
    expect(await counts()).toEqual({ runs: 3, files: 3 });
  });
});
