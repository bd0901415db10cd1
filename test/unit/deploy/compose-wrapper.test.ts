// The wrapper at the repository root, with a fake `docker` that records its calls.

import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wrapper-'));
  copyFileSync(join(repository, 'flowrun'), join(folder, 'flowrun'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('passes its arguments and the exit code through', async () => {
  fakeDocker({ running: true, exitCode: 2 });
  const { code, stdout } = await run('key', 'create', '--name', 'two words');
  expect(code).toBe(2);
  expect(stdout).toBe('from the container\n');
  expect(calls().at(-1)).toBe('[compose][exec][-T][api][flowrun][key][create][--name][two words]');
});

test('reports how to start a service that is not running', async () => {
  fakeDocker({ running: false, exitCode: 0 });
  const { code, stderr } = await run('host', 'list');
  expect(code).toBe(1);
  expect(stderr).toBe(
    'flowrun: the service is not running. Start it with: docker compose up -d --wait\n',
  );
  expect(calls().some((call) => call.includes('[exec]'))).toBe(false);
});

test('adopts a Temporal although the API has stopped', async () => {
  fakeDocker({ running: false, exitCode: 0 });
  expect((await run('temporal', 'adopt', '--confirm')).code).toBe(0);
  expect(calls().at(-1)).toBe(
    '[compose][run][--rm][--no-deps][-T][api][temporal][adopt][--confirm]',
  );
});

test('reports that docker is missing', async () => {
  const { code, stderr } = await run('host', 'list');
  expect([code, stderr]).toEqual([1, 'flowrun: docker is not installed.\n']);
});

function fakeDocker({ running, exitCode }: { running: boolean; exitCode: number }): void {
  const script = `#!/bin/sh
{ for argument; do printf '[%s]' "$argument"; done; echo; } >> ${join(folder, 'calls')}
case "$2" in
  ps) ${running ? 'echo 0123456789ab' : ':'} ;;
  exec) echo 'from the container'; exit ${exitCode} ;;
esac
`;
  writeFileSync(join(folder, 'docker'), script);
  chmodSync(join(folder, 'docker'), 0o755);
}

const calls = (): string[] => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');

function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { env: { PATH: folder } };
    // An absolute path, because PATH contains only the fake docker.
    execFile('/bin/sh', [join(folder, 'flowrun'), ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}
