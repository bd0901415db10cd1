import type { FastifyRequest } from 'fastify';
import type { Flow, FlowOutline } from '../../core/flows/flow.ts';
import type { Run } from '../../core/runs/run.ts';
import { type Access, accessOf, callerOf, type RouteAccess } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { foreign, notFound, outOfScope, outOfTree } from '../errors.ts';

/** Loads a run that the caller can reach and that is not deleted, or throws. */
export async function loadRun(
  deps: Pick<ApiDeps, 'runs'>,
  runId: string,
  { projectId, flowIds, reachesPlainRuns, reachesSessions, below, ...access }: RouteAccess,
): Promise<Run> {
  const run = await deps.runs.find(runId);
  if (run === null || run.deletedAt !== null) throw notFound('Run');
  if (run.projectId !== projectId)
    throw access.hidesOtherProjects ? notFound('Run') : foreign('The run');
  if (below !== null && !run.ancestorIds.includes(below)) throw outOfTree();
  checkFlowScope(flowIds, run.flowId);
  const isSession = run.sessionId !== null;
  if (isSession && !reachesSessions) throw outOfScope('changes to a session');
  if (!isSession && !reachesPlainRuns) throw outOfScope('changes to a plain run');
  return run;
}

/** Throws if the caller is limited to other flows. */
export function checkFlowScope(flowIds: Access['flowIds'], flowId: string): void {
  if (flowIds?.includes(flowId) === false) throw outOfScope('this flow');
}

/** The flow in the path if the caller can reach it, or throws. */
export function flowOf(request: FastifyRequest): FlowOutline {
  if (request.operator !== null) return request.operator.flow ?? missingFlow();
  const { key, flow } = callerOf(request);
  if (flow === null) throw notFound('Flow');
  if (flow.projectId !== key.projectId) throw foreign('The flow');
  checkFlowScope(accessOf(request).flowIds, flow.flowId);
  return flow;
}

function missingFlow(): never {
  throw notFound('Flow');
}

export async function loadFlow(
  deps: Pick<ApiDeps, 'flows'>,
  flowId: string,
  projectId: string,
): Promise<Flow> {
  const flow = await deps.flows.find(flowId);
  if (flow === null || flow.archivedAt !== null) throw notFound('Flow');
  if (flow.projectId !== projectId) throw foreign('The flow');
  return flow;
}
