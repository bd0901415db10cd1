// `npm run typecheck` compiles the workflows with this configuration. This control proves that it
// excludes the types of Node.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';

const missing = ["'node:fs'", "'Buffer'", "'fetch'", "'process'", "'setImmediate'"];

test('a workflow that uses a built-in of Node does not compile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'workflow-types-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const errors = compile(folder, join(repository, 'test/fixtures/lint/compile/uses-node.ts'));
  expect(errors).toHaveLength(missing.length);
  for (const [index, name] of missing.entries()) expect(errors[index]).toContain(name);
});

/** The errors of a file with the configuration of the workflows. */
function compile(folder: string, file: string): string[] {
  const tsconfig = join(folder, 'tsconfig.json');
  const project = join(repository, 'workflows/tsconfig.json');
  writeFileSync(tsconfig, JSON.stringify({ extends: project, include: [file] }));
  const tsc = join(repository, 'node_modules/.bin/tsc');
  const { stdout } = spawnSync(tsc, ['-p', tsconfig, '--pretty', 'false'], {
    cwd: repository,
    encoding: 'utf8',
  });
  return stdout.split('\n').filter((line) => line !== '');
}
