// The permitted paths of the input files of a request.

import { describe, expect, test } from 'vitest';
import { useGivenFiles, utf8 } from './input-file-requests.ts';

const { trigger, counts } = useGivenFiles();

describe('a file that no working directory could contain', () => {
  test.each([
    [[utf8('')], 'body.files.0.path'],
    [[utf8('a'), utf8('/etc/passwd')], 'body.files.1.path'],
    [[utf8('../a')], 'body.files.0.path'],
    [[utf8('a/../b')], 'body.files.0.path'],
    [[utf8('a/./b')], 'body.files.0.path'],
    [[utf8('a//b')], 'body.files.0.path'],
    [[utf8('a/')], 'body.files.0.path'],
    [[utf8('a\\b')], 'body.files.0.path'],
    [[utf8('a\0b')], 'body.files.0.path'],
    [[utf8('\ud800')], 'body.files.0.path'],
    [[utf8('.git/config')], 'body.files.0.path'],
    [[utf8('x/.GIT/hooks/pre-commit')], 'body.files.0.path'],
    [[utf8('.git')], 'body.files.0.path'],
    [[utf8('x'.repeat(256))], 'body.files.0.path'],
    [[utf8(`${'x/'.repeat(256)}y`)], 'body.files.0.path'],
    [[utf8('a'), utf8('a')], 'body.files.1.path'],
    [[utf8('a'), utf8('a/b')], 'body.files.1.path'],
    [[{ ...utf8('a'), content: 'AA=', encoding: 'base64' }], 'body.files.0.content'],
    [[{ ...utf8('a'), content: 'A A=', encoding: 'base64' }], 'body.files.0.content'],
    [[{ ...utf8('a'), content: 'AB==', encoding: 'base64' }], 'body.files.0.content'],
    [[utf8('a', '\ud800')], 'body.files.0.content'],
    [[{ path: 'a', content: 'x' }], 'body.files.0.encoding'],
    [[{ ...utf8('a'), mode: '0777' }], 'body.files.0.mode'],
    [[{ ...utf8('a'), owner: 'root' }], 'body.files.0.owner'],
    ['a', 'body.files'],
  ])('is rejected with its position, $#', async (files, place) => {
    const answer = await trigger(files);
    expect(answer.status).toBe(400);
    expect(answer.json.error).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(answer.json.error.message).toContain(`${place}:`);
    expect(await counts()).toEqual({ runs: 0, files: 0 });
  });

  test("conflicts with the flow's files", async () => {
    await trigger([utf8('a/b/c'), utf8('f')]);
    for (const [path, other] of [
      ['a', 'a/b/c'],
      ['a/b', 'a/b/c'],
      ['f/x', 'f'],
      ['f/x/y', 'f'],
    ] as const) {
      const answer = await trigger([utf8('ok'), utf8(path)]);
      expect(answer.status).toBe(400);
      expect(answer.json.error.message).toBe(
        `body.files.1.path: conflicts with the flow's file ${other}`,
      );
    }
    expect((await trigger([utf8('a/b/d'), utf8('a0'), utf8('f.x')])).status).toBe(201);
    expect(await counts()).toMatchObject({ runs: 2 });
  });
});
