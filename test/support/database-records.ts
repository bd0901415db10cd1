import { randomUUID } from 'node:crypto';
import type { Flow } from '../../core/flows/flow.ts';
import type { Run } from '../../core/runs/run.ts';
import { emptyRunConfig } from '../../core/runs/run-config.ts';
import { createFlowStore, type NewFlow } from '../../systems/postgres/accounts/flow-store.ts';
import {
  createProjectStore,
  type ProjectPatch,
} from '../../systems/postgres/accounts/project-store.ts';
import { createAdmission } from '../../systems/postgres/admission/admission.ts';
import type { AdmitRun } from '../../systems/postgres/admission/admit-run.ts';
import type { Sealer } from '../../systems/postgres/admission/seal.ts';
import type { Pool } from '../../systems/postgres/client/pool.ts';
import { createSessionStore } from '../../systems/postgres/sessions/session-store.ts';

export interface Scenario {
  projectId: string;
  flow: Flow;
  /** A request for admission with a fresh run id and the given overrides. */
  request(overrides?: Partial<AdmitRun>): AdmitRun;
  /** An admitted run. */
  run(overrides?: Partial<AdmitRun>): Promise<Run>;
  /** An opened session. */
  session(overrides?: Partial<Pick<AdmitRun, 'callbackUrl' | 'keyId'>>): Promise<Run>;
}

/** Creates a project with a flow, in which tests create runs. */
export async function createScenario(
  pool: Pool,
  sealer: Sealer,
  overrides: { project?: ProjectPatch; flow?: Partial<NewFlow> } = {},
): Promise<Scenario> {
  const projectId = `p-${randomUUID()}`;
  const projects = createProjectStore(pool, sealer);
  await projects.create({ projectId, name: 'Project' });
  await projects.update(projectId, { maxConcurrentRuns: 1_000, ...overrides.project });
  const flow = await createFlowStore(pool, sealer).create({
    projectId,
    name: 'Flow',
    ...overrides.flow,
  });
  const request = (of: Partial<AdmitRun> = {}) => ({ ...anyRequest(flow), ...of });
  return {
    projectId,
    flow,
    request,
    async run(of) {
      const admission = await createAdmission(pool, sealer).admitRun(request(of));
      if (admission.outcome === 'rejected') throw new Error(`refused: ${admission.reason}`);
      return admission.run;
    },
    async session(of) {
      const run = await createSessionStore(pool, sealer).open({
        ...request(of),
        sessionId: randomUUID(),
        hasClientId: false,
        mcpServerNames: [],
      });
      if (run === 'reconciling' || 'reason' in run) throw new Error('the session was not opened');
      return run;
    },
  };
}

export function anyRequest({ flowId, projectId }: Pick<Flow, 'flowId' | 'projectId'>): AdmitRun {
  return {
    runId: randomUUID(),
    flowId,
    projectId,
    triggerType: 'api',
    keyId: null,
    keyName: 'ci',
    keyCreatedBy: 'ana',
    requestId: null,
    prompt: 'Say hello.',
    name: null,
    labels: {},
    partialMessages: false,
    callbackUrl: null,
    idempotencyKey: null,
    timeoutSeconds: 3_600,
    model: null,
    maxTurns: null,
    maxBudgetUsd: null,
    outputSchema: null,
    retryOf: null,
    config: emptyRunConfig,
  };
}
