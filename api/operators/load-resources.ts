import { projectIdRule } from '../../core/field-rules.ts';
import type { Flow } from '../../core/flows/flow.ts';
import type { Run } from '../../core/runs/run.ts';
import type { KeyRecord } from '../../systems/postgres/accounts/key-row.ts';
import type { Project } from '../../systems/postgres/accounts/project-store.ts';
import { forOperatorAccess } from '../auth/callers.ts';
import type { ApiDeps } from '../deps.ts';
import { ApiError } from '../errors.ts';

/** The config of every route here, except those that create a session. */
export const config = forOperatorAccess;

export const projectsPath = '/api/projects';
export const projectPath = `${projectsPath}/:projectId`;

const missing = (resource: string) => new ApiError('NOT_FOUND', `${resource} not found.`);

// Load the resource that a path refers to, or throw 404. A resource of another project counts as
// missing.

interface OfProject {
  projectId: string;
}

export async function loadProject(
  { projects }: Pick<ApiDeps, 'projects'>,
  { projectId }: OfProject,
): Promise<Project> {
  const project = projectIdRule.pattern.test(projectId) ? await projects.find(projectId) : null;
  if (project === null) throw missing('Project');
  return project;
}

export async function loadProjectFlow(
  { flows }: Pick<ApiDeps, 'flows'>,
  { projectId, flowId }: OfProject & { flowId: string },
): Promise<Flow> {
  const flow = await flows.find(flowId);
  if (flow?.projectId !== projectId) throw missing('Flow');
  return flow;
}

export async function loadProjectKey(
  { keys }: Pick<ApiDeps, 'keys'>,
  { projectId, keyId }: OfProject & { keyId: string },
): Promise<KeyRecord> {
  const key = await keys.find(keyId);
  if (key?.projectId !== projectId) throw missing('Key');
  return key;
}

export async function loadProjectRun(
  { runs }: Pick<ApiDeps, 'runs'>,
  { projectId, runId }: OfProject & { runId: string },
): Promise<Run> {
  const run = await runs.find(runId);
  if (run?.projectId !== projectId || run.deletedAt !== null) throw missing('Run');
  return run;
}
