import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';

/** Compiles a file together with the real workflows, under the workflows' own configuration. */
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

const controls = join(repository, 'test/lint-control/compile');
const missing: Record<string, string> = {
  'imports-node.ts': "'node:fs'",
  'uses-buffer.ts': "'Buffer'",
  'uses-fetch.ts': "'fetch'",
  'uses-process.ts': "'process'",
  'uses-set-immediate.ts': "'setImmediate'",
};

describe('a workflow', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'workflow-types-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  test('compiles as long as it uses nothing of Node', () => {
    expect(compile(folder, [])).toBe('');
  });

  test.each(readdirSync(controls))('does not compile when it %s', (name) => {
    const errors = compile(folder, [join(controls, name)])
      .split('\n')
      .filter((line) => line !== '');
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`${name}(`);
    expect(errors[0]).toContain(missing[name]);
  });
});
