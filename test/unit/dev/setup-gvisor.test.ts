// The program is a stand-in at the path of the build. The configuration of the machine's own engine
// is only printed, never changed.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { gvisorBuild } from '../../../dev/stack/servers/gvisor.ts';
import { type FakeEngine, startFakeEngine } from '../../support/fake-engine.ts';

const listed: Record<string, object> = {};
let folder: string;
let engine: FakeEngine;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gvisor-'));
  vi.stubEnv('FLOWRUN_CACHE', folder);
  delete listed['runsc'];
  engine = await startFakeEngine(() => ({ Runtimes: { runc: {}, ...listed } }));
});
afterEach(() => {
  vi.unstubAllEnvs();
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

test('the build links the pinned version, which measurements report', () => {
  const module = readFileSync(join(repository, 'dev/from-source/gvisor/go.mod'), 'utf8');
  const [, pinned] = /gvisor\.dev\/gvisor (v0\.0\.0-\d{14}-[0-9a-f]{12})/.exec(module) ?? [];
  const { args } = gvisorBuild();
  expect(args[args.indexOf('-ldflags') + 1]?.split(' -X ')).toEqual([
    '-s -w',
    `gvisor.dev/gvisor/runsc/version.version=${pinned}`,
  ]);
});

test.skipIf(process.getuid?.() !== 0)('reports why gVisor cannot run on this machine', async () => {
  standIn('#!/bin/sh\necho "no ptrace here" >&2; exit 128\n');
  const { code, said } = await setUp();
  expect(code).toBe(1);
  expect(said).toMatch(/gVisor cannot run on this machine[\s\S]*no ptrace here/);
  expect(said).not.toContain('daemon.json');
});

function standIn(script: string): string {
  const build = gvisorBuild();
  mkdirSync(build.folder);
  writeFileSync(build.program, script, { mode: 0o755 });
  return build.program;
}

async function setUp(): Promise<{ code: number; said: string }> {
  const env = { ...process.env, DOCKER_HOST: engine.dockerHost };
  const line = [join(repository, 'dev/stack/setup-gvisor.ts')];
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, line, { env });
    return { code: 0, said: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }; // documented by execFile
    return { code, said: stdout + stderr };
  }
}
