import type { FastifyRequest } from 'fastify';
import type { Flow, FlowOutline } from '../../core/flows/flow.ts';
import type { Run } from '../../core/runs/run.ts';
import { callerOf } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { foreign, notFound } from '../errors.ts';

/** Loads a run of this project that is not deleted, or throws. */
export async function loadRun(
  deps: Pick<ApiDeps, 'runs'>,
  runId: string,
  projectId: string,
): Promise<Run> {
  const run = await deps.runs.find(runId);
  if (run === null || run.deletedAt !== null) throw notFound('Run');
  if (run.projectId !== projectId) throw foreign('The run');
  return run;
}

/** The flow in the path if it is of the key's project, or throws. */
export function flowOf(request: FastifyRequest): FlowOutline {
  const { key, flow } = callerOf(request);
  if (flow === null) throw notFound('Flow');
  if (flow.projectId !== key.projectId) throw foreign('The flow');
  return flow;
}

export async function loadFlow(
  deps: Pick<ApiDeps, 'flows'>,
  flowId: string,
  projectId: string,
): Promise<Flow> {
  const flow = await deps.flows.find(flowId);
  if (flow === null) throw notFound('Flow');
  if (flow.projectId !== projectId) throw foreign('The flow');
  return flow;
}
