// Pages of lists. A grown database has longer pages.

import type { Pool } from '../../../../../systems/postgres/client/pool.ts';
import { createRunStore } from '../../../../../systems/postgres/runs/run-store.ts';
import { createSessionStore } from '../../../../../systems/postgres/sessions/session-store.ts';
import { testSealer } from '../../../../support/database.ts';
import type { Call } from './count-blocks.ts';
import type { Subjects } from './subjects.ts';

const page = { limit: 20, maxBytes: 1_000_000 };
const monthMs = 30 * 24 * 3_600_000;

export function lists({ scenario, running, oldFlowIds }: Subjects): Record<string, Call> {
  const { projectId, flow } = scenario;
  const { flowId } = flow;
  type Filter = Parameters<ReturnType<typeof createRunStore>['list']>[1]['filter'];
  const runs = (filter: Filter) => async (pool: Pool) =>
    (await createRunStore(pool, testSealer).list(projectId, { ...page, filter })).runs;
  const sessions = (filter: { ended?: boolean; status?: 'running' }) => async (pool: Pool) =>
    (await createSessionStore(pool, testSealer).list({ ...page, flowId, ...filter })).sessions;
  const after = {
    createdAt: new Date(running.createdAt.getTime() - 600_000),
    runId: running.runId,
  };
  return {
    'list runs': runs({}),
    'list runs that run': runs({ status: 'running' }),
    'list runs that wait for an answer': runs({ agentStatus: 'waiting' }),
    'list scheduled runs': runs({ triggerType: 'schedule' }),
    'list runs of a flow': runs({ flowId }),
    'list runs of old flows': runs({ flowIds: oldFlowIds }),
    'list runs of an old flow': runs({ flowId: oldFlowIds[0] }),
    'list runs of an old and a common flow': runs({ flowIds: [...oldFlowIds, flowId] }),
    'list runs of a session of several flows': runs({
      flowIds: [...oldFlowIds, flowId],
      sessionId: 'grown-1',
    }),
    'list runs with a common label': runs({ labels: [['team', 'a']] }),
    'list runs with a rare label': runs({ labels: [['ticket', '7']] }),
    'list runs of a session': runs({ sessionId: 'grown-1' }),
    'list runs before a time': runs({ createdBefore: new Date(Date.now() - monthMs) }),
    'list the next runs': async (pool) =>
      (await createRunStore(pool, testSealer).list(projectId, { ...page, filter: {}, after })).runs,
    'list sessions': sessions({}),
    'list open sessions': sessions({ ended: false }),
    'list ended sessions': sessions({ ended: true }),
    'list sessions that run': sessions({ status: 'running' }),
  };
}
