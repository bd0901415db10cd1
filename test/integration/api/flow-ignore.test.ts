import { describe, expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { useGivenFiles, utf8 } from './input-file-requests.ts';

const { trigger, filesOf, pathsOf, storage } = useGivenFiles();

describe('.flowignore', () => {
  const rules = '# notes\nbuild/\n*.log\n!keep.log\n/top\n\\#odd\nCase\n';

  test("keeps matching files for the run only, by git's rules", async () => {
    const alone = ['build/a', 'x/build/b', 'a.log', 'x/b.log', 'top', '#odd', 'Case'];
    const shared = ['keep.log', 'x/top', 'builds', 'case', 'notes'];
    const made = await trigger([
      utf8('.flowignore', rules),
      ...[...alone, ...shared].map((p) => utf8(p)),
    ]);
    const scope = Object.fromEntries((await filesOf(made)).map((f) => [f.path, f.scope]));
    expect(alone.map((path) => scope[path])).toEqual(alone.map(() => 'run'));
    expect(shared.map((path) => scope[path])).toEqual(shared.map(() => 'flow'));
    expect(await pathsOf(await trigger([]))).toEqual(['.flowignore', ...shared].sort());
    const bytes = ['.flowignore', ...shared].map((p) => (p === '.flowignore' ? rules : p).length);
    expect((await storage()).usedBytes).toBe(bytes.reduce((a, b) => a + b));
  });

  test('of the flow applies unless the request has its own', async () => {
    await trigger([utf8('.flowignore', '*.log')]);
    await trigger([utf8('a.log'), utf8('a.txt')]);
    expect(await pathsOf(await trigger([]))).toEqual(['.flowignore', 'a.txt']);
    await trigger([utf8('.flowignore', '*.txt'), utf8('b.log'), utf8('b.txt')]);
    expect(await pathsOf(await trigger([]))).toEqual(['.flowignore', 'a.txt', 'b.log']);
  });

  test('may match itself, and then stays out of the flow', async () => {
    const made = await trigger([utf8('.flowignore', '.flowignore\na'), utf8('a'), utf8('b')]);
    expect((await filesOf(made)).map(({ scope }) => scope)).toEqual(['run', 'run', 'flow']);
    expect(await pathsOf(await trigger([utf8('a')]))).toEqual(['a', 'b']);
  });

  test('that takes too long is rejected, without blocking others for long', async () => {
    const evil = utf8('.flowignore', `${'**/a/'.repeat(8)}b\n`);
    const began = performance.now();
    const answer = await trigger([evil, utf8(`${'a/'.repeat(120)}c`)]);
    expect(answer).toMatchObject({ status: 400, json: { error: { code: 'VALIDATION_ERROR' } } });
    expect(performance.now() - began).toBeLessThan(15_000);
    const long = utf8('.flowignore', '#'.repeat(limits.flow.ignoreMaxBytes + 1));
    expect((await trigger([long])).status).toBe(400);
    expect(
      (await trigger([utf8('.flowignore', '#'.repeat(limits.flow.ignoreMaxBytes))])).status,
    ).toBe(201);
  });
});
