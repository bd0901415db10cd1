import { limits } from '../../../core/limits.ts';
import type { ModelUpstream, ProjectModelSource } from '../../egress/model-gateway.ts';
import type { SandboxDeps } from '../deps.ts';

/**
 * A project's key may change while its runs work, so it is asked for again and again. While nobody
 * can be asked, what was said last stands; before the first answer a call cannot go out.
 */
export function projectModelSource(
  { projects, now }: Pick<SandboxDeps, 'projects' | 'now'>,
  projectId: string,
): ProjectModelSource {
  let last: { model: ModelUpstream | null; askedAt: number } | null = null;
  return async () => {
    const at = now().getTime();
    if (last !== null && at - last.askedAt < limits.projectModelTtlMs) return last.model;
    try {
      last = { model: await projects.readModel(projectId), askedAt: at };
    } catch (error) {
      if (last === null) throw error;
      last = { ...last, askedAt: at };
    }
    return last.model;
  };
}
