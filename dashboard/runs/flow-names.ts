import { signal } from '@preact/signals';
import type { Flow } from '../../client/generated/types.ts';
import { projectHttp } from '../shell/service.ts';

/** The flows of the projects that were looked at, by project. */
const known = signal<Record<string, readonly Flow[]>>({});

export const flowsOf = (projectId: string): readonly Flow[] => known.value[projectId] ?? [];

export const hasNoFlows = (projectId: string): boolean => known.value[projectId]?.length === 0;

/** The name of a flow, or null before it is known. */
export const flowNameOf = (projectId: string, flowId: string): string | null =>
  flowsOf(projectId).find((flow) => flow.flowId === flowId)?.name ?? null;

/** Reads the flows again. A failure leaves the known ones. */
export async function loadFlows(projectId: string): Promise<void> {
  const flows: Flow[] = [];
  try {
    for await (const flow of projectHttp(projectId).items<Flow>({ path: '/flows' }))
      flows.push(flow);
  } catch {
    return; // the screen shows IDs instead of names
  }
  known.value = { ...known.value, [projectId]: flows };
}
