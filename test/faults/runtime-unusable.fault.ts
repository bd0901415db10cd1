// An engine with a misconfigured gVisor: the service reports the runtime as unusable and starts no
// sandbox on any runtime. Once the engine is configured correctly, sandboxes start on gVisor.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { RuntimeEntry } from '../../dev/stack/engine-api.ts';
import { findGvisor, gvisorEntry } from '../../dev/stack/servers/gvisor.ts';
import { reloadPrivateEngine } from '../../dev/stack/servers/private-engine.ts';
import { stopFaultTestServers } from '../../dev/test-runner/fault-test-servers.ts';
import { createEngine } from '../../systems/docker/engine.ts';
import { script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import type { Service } from '../support/service.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { type FaultServer, ownEngine, resetServers } from './support/fault-servers.ts';

const gvisor = findGvisor();
const pollOptions = { timeout: 90_000, interval: 500 };
let folder: string;
let engine: FaultServer;
let fixture: FaultFixture;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'runtime-'));
});
afterEach(async () => {
  await fixture?.stop();
  await stopFaultTestServers();
});
afterAll(() => rmSync(folder, { recursive: true }));

it('rejects a runtime that starts nothing, and accepts a wrapper around a working one', async () => {
  const broken = programOf('broken', 'echo "nothing works" >&2; exit 1');
  const around = programOf('around', 'exec runc "$@"');
  await unusableThenUsed({ path: broken }, { path: around });
});

it.skipIf(gvisor === undefined)(
  'rejects gVisor without access to host sockets, and uses it once that is configured',
  async () => {
    const path = gvisor ?? '';
    await unusableThenUsed({ path }, gvisorEntry(path));
  },
);

function programOf(name: string, does: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${does}\n`, { mode: 0o755 });
  return path;
}

async function unusableThenUsed(bad: RuntimeEntry, good: RuntimeEntry): Promise<void> {
  await resetServers();
  engine = await ownEngine(true, { runsc: bad });
  const env = { SANDBOX_RUNTIME: 'auto' };
  fixture = await startFaultFixture({ on: { dockerHost: engine.address }, env });
  const { service } = fixture;
  await expect
    .poll(() => hostOf(service), pollOptions)
    .toMatchObject({
      ...{ runtimeSetting: 'auto', runtime: null, runtimeFault: 'runtime_unusable' },
    });
  expect(service.worker.log()).toMatch(/--host-uds=open.*"msg":"runtime_unusable"/);
  const { runId } = await service.trigger({ prompt: script([{ say: 'never' }]) });
  expect(await service.untilEnded(runId, 60_000)).toMatchObject({
    error: 'container_start_failed: the configured container runtime does not work on this host',
  });
  expect(fixture.containers.of(runId)).toMatchObject({ created: 0, started: 0 });
  expect(await containersOf()).toEqual([]);

  reloadPrivateEngine({ liveRestore: true, runtimes: { runsc: good } });
  await expect
    .poll(() => hostOf(service), pollOptions)
    .toMatchObject({
      ...{ runtimeSetting: 'auto', runtime: 'runsc', runtimeFault: null },
    });
  const steps = [{ say: 'here' }, { waitForFile: 'go-on' }];
  const later = await service.trigger({ prompt: script(steps) });
  await expect.poll(containersOf, pollOptions).toEqual(['runsc']);
  releaseAgent(service, later.runId);
  expect(await service.untilEnded(later.runId, 60_000)).toMatchObject({ exitCode: 0 });
}

async function hostOf({ url }: Service): Promise<unknown> {
  const answer = await fetch(`${url}/readyz`);
  const { data } = (await answer.json()) as { data: { hosts: unknown[] } };
  return data.hosts[0];
}

/** The runtime of each container, those of other instances included. */
async function containersOf(): Promise<string[]> {
  const { docker } = createEngine({ dockerHost: engine.address, instance: 'looks' });
  const all = await docker.listContainers({ all: true });
  const found = await Promise.all(all.map(({ Id }) => docker.getContainer(Id).inspect()));
  return found.map(({ HostConfig }) => HostConfig.Runtime ?? '');
}
