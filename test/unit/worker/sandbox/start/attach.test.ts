import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { initialAgentState } from '../../../../../core/agent/agent-state.ts';
import type { ListedSandbox } from '../../../../../systems/docker/container/list.ts';
import type { SandboxPlan } from '../../../../../systems/postgres/admission/sandbox-plan.ts';
import type { SandboxDeps, SupervisorDeps } from '../../../../../worker/sandbox/deps.ts';
import { attach } from '../../../../../worker/sandbox/start/attach.ts';
import { createSupervisor } from '../../../../../worker/sandbox/supervisor.ts';

const logger = pino({ enabled: false });
const ref = { runId: randomUUID(), generation: 2 };
const leaseMs = 15_000;

test('no sandbox is adopted or started after the supervisor was closed', async () => {
  const adopted: string[] = [];
  let find: (found: ListedSandbox) => void = () => undefined;
  const found = new Promise<ListedSandbox>((resolve) => {
    find = resolve;
  });
  const deps = {
    ...{ hostId: 'host-1', logger },
    notifications: { subscribeBestEffort: () => () => undefined },
    onSandboxStart: () => undefined,
    sandboxes: { watchExits: () => ({ close: () => undefined }), find: () => found },
    runs: { sandboxPlan: async (runId: string) => void adopted.push(runId) },
  };
  // the only members that the supervisor uses
  const supervisor = createSupervisor(deps as unknown as SupervisorDeps);
  const stopping = supervisor.stop(ref, 0);
  await supervisor.close();
  const ids = { ...ref, hostId: 'host-1', projectId: 'p', containerId: 'c' };
  find({ ...ids, state: 'running' });
  await expect(stopping).rejects.toThrow('shutting down');
  await expect(supervisor.start(ref)).rejects.toThrow();
  expect(adopted).toEqual([]);
});

const unavailable = () => Promise.reject(new Error('Postgres is unavailable'));
test.each([
  ['the database does not respond', unavailable],
  ['a newer generation exists', async () => false],
])('a lease is released if the sandbox cannot be attached: %s', async (_why, beginGeneration) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'attach-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const calls: string[] = [];
  const position = { generation: 1, byteOffset: 0, lastSeq: 0, agentState: initialAgentState };
  const deps = {
    ...{ hostId: 'host-1', dataDir, logger, times: { leaseMs }, now: () => new Date() },
    projectQuotas: { assign: async () => undefined },
    egress: { listen: async () => ({ close: async () => void calls.push('socket closed') }) },
    frames: { takeLease: async () => ({ token: 1, ...position }), beginGeneration },
    leaseRenewer: {
      add: () => {
        calls.push('renewed');
        return () => void calls.push('no longer renewed');
      },
    },
  };
  const plan = {
    run: {
      ...{ ...ref, projectId: 'p', prompt: 'Hello.', spending: { calls: 0, costNanos: null } },
      ...{ model: null, maxTurns: null, maxBudgetUsd: null },
    },
    flow: { network: { policy: 'none', allowedHosts: [] }, allowedModels: [], childRuns: null },
    ...{ session: null, config: null, secrets: { env: {}, mcpServers: {} } },
  };
  // the only members that `attach` uses
  const opening = attach(deps as unknown as SandboxDeps, ref, plan as unknown as SandboxPlan);
  const opened = await opening.catch((error: Error) => error.message);
  expect([null, 'Postgres is unavailable']).toContain(opened);
  expect(calls).toEqual(['renewed', 'no longer renewed', 'socket closed']);
});
