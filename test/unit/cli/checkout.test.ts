import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';

const program = join(repository, 'cli/flowrun.mjs');
const run = promisify(execFile);

test('runs from a checkout as it stands', async () => {
  const { stdout } = await run(program, ['--help']);
  expect(stdout).toContain('Usage: flowrun');
  await expect(run(program, ['nonsense'])).rejects.toMatchObject({ code: 2 });
});

test('ends quietly where its reader has seen enough', async () => {
  const { stdout, stderr } = await run('sh', ['-c', `"${program}" --help | true`]);
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: '' });
});
