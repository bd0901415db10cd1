// Selects the engine for tests on gVisor, or reports why there is none.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { foldersOf } from '../../../dev/lib/folders.ts';
import { gvisorBuild } from '../../../dev/stack/servers/gvisor.ts';
import { ensureGvisorEngine } from '../../../dev/stack/servers/gvisor-engine.ts';
import { gvisorTestFiles } from '../../../dev/test-runner/gvisor-tests.ts';
import { type FakeEngine, startFakeEngine } from '../../support/fake-engine.ts';

let folder: string;
let engine: FakeEngine;
let listed: Record<string, object>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gvisor-'));
  vi.stubEnv('FLOWRUN_CACHE', folder);
  vi.stubEnv('FLOWRUN_DATA', folder);
  listed = { runc: {} };
  engine = await startFakeEngine(() => ({ Runtimes: listed }));
});
afterEach(() => {
  vi.unstubAllEnvs();
  engine.close();
  rmSync(folder, { recursive: true });
});

const ensure = () =>
  ensureGvisorEngine({
    folders: foldersOf('test'),
    stackSocket: engine.dockerHost.slice('unix://'.length),
    images: [],
  });

test('the engine of the stack is used if it has gVisor with the required arguments', async () => {
  listed['runsc'] = { path: '/somewhere/runsc', runtimeArgs: ['--host-uds=open'] };
  expect(await ensure()).toEqual({ socket: engine.dockerHost.slice('unix://'.length) });
});

test('reports why gVisor cannot run, and starts nothing', async () => {
  const build = gvisorBuild();
  mkdirSync(build.folder);
  const script = '#!/bin/sh\necho "no ptrace here" >&2; exit 128\n';
  writeFileSync(build.program, script, { mode: 0o755 });
  listed['runsc'] = { path: '/somewhere/runsc' };
  expect(await ensure()).toEqual({
    reason: expect.stringMatching(/^gVisor cannot run|^only root/),
  });
});

test('the tests on gVisor are those of the engine and of the guarantees that depend on it', () => {
  const files = gvisorTestFiles();
  for (const one of ['docker/escape', 'docker/entry', 'docker/bounds', 'docker/lifecycle']) {
    expect(files).toContain(`test/integration/systems/${one}.test.ts`);
  }
  expect(files).toContain('test/system/watchdogs.test.ts');
});
