import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { serviceServerName } from '../../../../../core/runs/child-runs.ts';
import type { SandboxPlan } from '../../../../../systems/postgres/admission/sandbox-plan.ts';
import type { EgressHandlers } from '../../../../../worker/egress/run-listener.ts';
import type { SandboxDeps } from '../../../../../worker/sandbox/deps.ts';
import { foldersOf } from '../../../../../worker/sandbox/sandbox-paths.ts';
import { openControlSocket } from '../../../../../worker/sandbox/start/control-socket.ts';

const logger = pino({ enabled: false });
const childRuns = { maxRuns: 1, maxConcurrent: 1, maxBudgetUsd: null };
const session = { sessionId: 's', startedGeneration: 0, isClaimed: true, hasUnsavedTurn: false };

interface Given {
  childRuns: typeof childRuns | null;
  config: { mcpMode: string } | null;
  session: typeof session | null;
  mcpServerNames: string[];
}

/** The credential with which the host of this sandbox forwards the calls of its agent. */
async function tokenFor({ config, mcpServerNames, ...given }: Given): Promise<string | null> {
  const dataDir = await mkdtemp(join(tmpdir(), 'token-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const ref = { runId: randomUUID(), generation: 1 };
  const folders = foldersOf(dataDir, ref);
  await mkdir(folders.root, { recursive: true });
  let token: string | null = null;
  const deps = {
    ...{ logger, now: () => new Date(), createAgentToken: () => 'fra_own' },
    egress: {
      async listen(_path: string, { agentToken }: EgressHandlers) {
        token = agentToken;
        return { close: async () => undefined };
      },
    },
  };
  const plan = {
    run: {
      ...{ ...ref, projectId: 'p', prompt: 'Hello.', spending: { calls: 0, costNanos: null } },
      ...{ model: null, maxTurns: null, maxBudgetUsd: null, mcpServerNames },
    },
    flow: {
      network: { policy: 'none', allowedHosts: [] },
      allowedModels: [],
      childRuns: given.childRuns,
    },
    ...{ session: given.session, config, secrets: { env: {}, mcpServers: {} } },
  };
  // the only members that `openControlSocket` uses
  const sandbox = { ref, plan: plan as unknown as SandboxPlan, folders, logger };
  const socket = await openControlSocket(deps as unknown as SandboxDeps, sandbox);
  await socket.close();
  return token;
}

const granted = {
  childRuns,
  ...{ config: { mcpMode: 'merge' }, session: null, mcpServerNames: [serviceServerName] },
};
const replaced = { ...granted, config: { mcpMode: 'replace' }, mcpServerNames: [] };

test.each([
  ['a flow with childRuns', granted, 'fra_own'],
  ['a session', { ...granted, session }, 'fra_own'],
  ['a run whose configuration was delivered', { ...granted, config: null }, 'fra_own'],
  ['a flow without childRuns', { ...granted, childRuns: null }, null],
  ['a request that replaces the servers', replaced, null],
  ['a session that replaces the servers', { ...replaced, session }, null],
  ['such a run whose configuration was delivered', { ...replaced, config: null }, null],
])('the credential of %s', async (_whose, given, token) => {
  expect(await tokenFor(given)).toBe(token);
});
