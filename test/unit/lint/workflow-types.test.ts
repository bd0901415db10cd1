import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';

/** Compiles files with the configuration of the workflows. */
function compile(folder: string, files: string[]): string {
  const tsconfig = join(folder, 'tsconfig.json');
  const include = [join(repository, 'workflows/**/*.ts'), ...files];
  writeFileSync(
    tsconfig,
    JSON.stringify({ extends: join(repository, 'workflows/tsconfig.json'), include }),
  );
  const tsc = join(repository, 'node_modules/.bin/tsc');
  const { stdout } = spawnSync(tsc, ['-p', tsconfig, '--pretty', 'false'], {
    cwd: repository,
    encoding: 'utf8',
  });
  return stdout;
}

const controls = join(repository, 'test/fixtures/lint/compile');
const missing = ["'node:fs'", "'Buffer'", "'fetch'", "'process'", "'setImmediate'"];

describe('a workflow', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'workflow-types-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test('compiles without the types of Node', () => {
    expect(compile(folder, [])).toBe('');
  });

  test('does not compile when it uses a built-in of Node', () => {
    const errors = compile(folder, [join(controls, 'uses-node.ts')])
      .split('\n')
      .filter((line) => line !== '');
    expect(errors).toHaveLength(missing.length);
    for (const [index, name] of missing.entries()) expect(errors[index]).toContain(name);
  });
});
