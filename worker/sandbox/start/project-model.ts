import { limits } from '../../../core/limits.ts';
import type { ModelUpstream } from '../../../core/model/model-upstream.ts';
import type { ProjectModelSource } from '../../egress/model/model-gateway.ts';
import type { SandboxDeps } from '../deps.ts';

/**
 * A project's key may change during a run, so it is read again periodically. While the database is
 * unavailable, the last one is used. Before the first read, calls fail.
 */
export function projectModelSource(
  { projects, now }: Pick<SandboxDeps, 'projects' | 'now'>,
  projectId: string,
): ProjectModelSource {
  let last: { model: ModelUpstream | null; readAt: number } | null = null;
  return async () => {
    const at = now().getTime();
    if (last !== null && at - last.readAt < limits.project.modelTtlMs) return last.model;
    try {
      last = { model: await projects.readModel(projectId), readAt: at };
    } catch (error) {
      if (last === null) throw error;
      last = { ...last, readAt: at };
    }
    return last.model;
  };
}
