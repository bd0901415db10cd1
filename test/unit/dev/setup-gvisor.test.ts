// The program is a stand-in at the path of the build. The configuration of the machine's own engine
// is only printed, never changed.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { hashOf } from '../../../dev/lib/hash.ts';
import { type FakeEngine, startFakeEngine } from '../../support/fake-engine.ts';

const listed: Record<string, object> = {};
let folder: string;
let engine: FakeEngine;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gvisor-'));
  delete listed['runsc'];
  engine = await startFakeEngine(() => ({ Runtimes: { runc: {}, ...listed } }));
});
afterEach(() => {
  engine.close();
  rmSync(folder, { recursive: true });
});

test('the engine of the machine is not changed: the missing configuration is printed until it is set', async () => {
  const program = standIn('#!/bin/sh\nexit 0\n');
  const { code, said } = await setUp();
  expect(code).toBe(0);
  expect(said).toContain(`install -m 755 ${program} /usr/local/bin/runsc`);
  expect(said).toMatch(/"runsc": \{\s+"path": "\/usr\/local\/bin\/runsc"/);
  expect(said).toMatch(/"runtimeArgs": \[\s+"--host-uds=open"\s+\]/);
  expect(said).toContain('systemctl reload docker');

  listed['runsc'] = { path: program, runtimeArgs: ['--debug'] };
  expect((await setUp()).said).toContain('systemctl reload docker');
  listed['runsc'] = { path: program, runtimeArgs: ['--debug', '--host-uds=open'] };
  expect((await setUp()).said).toContain('start from now on use gVisor');
});

test.skipIf(process.getuid?.() !== 0)('reports why gVisor cannot run on this machine', async () => {
  standIn('#!/bin/sh\necho "no ptrace here" >&2; exit 128\n');
  const { code, said } = await setUp();
  expect(code).toBe(1);
  expect(said).toMatch(/gVisor cannot run on this machine[\s\S]*no ptrace here/);
  expect(said).not.toContain('daemon.json');
});

function standIn(script: string): string {
  const sums = readFileSync(join(repository, 'dev/from-source/gvisor/go.sum'));
  const home = join(folder, `gvisor-${hashOf(sums)}`);
  mkdirSync(home);
  const program = join(home, 'runsc');
  writeFileSync(program, script, { mode: 0o755 });
  return program;
}

async function setUp(): Promise<{ code: number; said: string }> {
  const env = { ...process.env, FLOWRUN_CACHE: folder, DOCKER_HOST: engine.dockerHost };
  const line = [join(repository, 'dev/stack/setup-gvisor.ts')];
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, line, { env });
    return { code: 0, said: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }; // documented by execFile
    return { code, said: stdout + stderr };
  }
}
