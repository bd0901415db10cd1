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

/** All sandboxes of this instance, in any state. */
export async function list({ docker, call, instance }: Engine): Promise<ListedSandbox[]> {
  const label = [`${labelNames.instance}=${instance}`];
  const found = await call('list', (abortSignal) =>
    docker.listContainers({ all: true, filters: { label }, abortSignal }),
  );
  return found.map(listed);
}

function listed({ Id, Labels, State }: ContainerInfo): ListedSandbox {
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
