import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import manifest from '../../../package.json' with { type: 'json' };

const run = promisify(execFile);
let folder: string;
let program: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowrun-'));
  program = join(folder, 'flowrun');
  symlinkSync(join(repository, manifest.bin.flowrun), program); // a link as npm creates it for a bin
});

afterAll(() => rmSync(folder, { recursive: true }));

test('the command line runs from a checkout without a build', async () => {
  const { stdout } = await run(program, ['--help']);
  expect(stdout).toContain('Usage: flowrun');
  await expect(run(program, ['nonsense'])).rejects.toMatchObject({ code: 2 });
});

test('the command line exits quietly when its reader closes the pipe', async () => {
  const { stdout, stderr } = await run('sh', ['-c', `"${program}" --help | true`]);
  expect({ stdout, stderr }).toEqual({ stdout: '', stderr: '' });
});
