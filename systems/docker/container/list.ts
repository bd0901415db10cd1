import type { ContainerInfo } from 'dockerode';
import type { Engine } from '../engine.ts';
import { labelNames } from '../labels.ts';
import { type ContainerStatus, statusOf } from './container-state.ts';

export interface ListedSandbox {
  containerId: string;
  runId: string;
  projectId: string;
  hostId: string;
  generation: number;
  state: ContainerStatus;
}

/** All sandboxes of this instance or of one of its runs, in any state. */
export async function list(
  { docker, call, instance }: Engine,
  run?: { runId: string },
): Promise<ListedSandbox[]> {
  const label = [`${labelNames.instance}=${instance}`];
  if (run !== undefined) label.push(`${labelNames.run}=${run.runId}`);
  const found = await call('list', (abortSignal) =>
    docker.listContainers({ all: true, filters: { label }, abortSignal }),
  );
  return found.map(listed);
}

export function listed({
  Id,
  Labels,
  State,
}: Pick<ContainerInfo, 'Id' | 'Labels' | 'State'>): ListedSandbox {
  const label = (name: string): string => Labels[name] ?? '';
  return {
    containerId: Id,
    runId: label(labelNames.run),
    projectId: label(labelNames.project),
    hostId: label(labelNames.host),
    generation: Number(label(labelNames.generation)),
    state: statusOf(State),
  };
}
