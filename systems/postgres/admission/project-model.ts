import type { Db } from '../client/pool.ts';
import type { Sealer } from './seal.ts';

/** The model API that a project pays for itself. */
export interface ProjectModel {
  apiKey: string;
  baseUrl: string;
}

/** Null if the project uses the model API of the service. */
export async function readProjectModel(
  db: Db,
  sealer: Sealer,
  projectId: string,
): Promise<ProjectModel | null> {
  const text = 'select model_sealed as sealed from projects where id = $1';
  const { rows } = await db.query<{ sealed: Buffer | null }>(text, [projectId]);
  const sealed = rows[0]?.sealed;
  if (!sealed) return null;
  // The seal proves that this text was written by sealModel.
  return JSON.parse(sealer.open(sealed, contextOf(projectId))) as ProjectModel;
}

export function sealModel(sealer: Sealer, projectId: string, model: ProjectModel): Buffer {
  return sealer.seal(JSON.stringify(model), contextOf(projectId));
}

const contextOf = (projectId: string): string => `project-model:${projectId}`;
