import type { Db, Pool } from './pool.ts';
import type { Sealer } from './seal.ts';
import { ensureWebhookSecret } from './webhook-secret.ts';

export interface Project {
  projectId: string;
  name: string;
  maxConcurrentRuns: number;
  /** Null: no ceiling. */
  monthlyRunQuota: number | null;
  createdAt: Date;
}

export type ProjectPatch = Partial<Pick<Project, 'maxConcurrentRuns' | 'monthlyRunQuota'>>;

export type ProjectStore = ReturnType<typeof createProjectStore>;

export function createProjectStore(pool: Pool, sealer: Sealer) {
  return {
    /** Null where the id is taken. */
    create: (input: Pick<Project, 'projectId' | 'name'>) => insertProject(pool, input),
    find: (projectId: string) => findProject(pool, projectId),
    list: () => listProjects(pool),
    /** Null where there is no such project. */
    update: (projectId: string, patch: ProjectPatch) => updateProject(pool, projectId, patch),
    /** Made by the first who asks; everybody gets the same. */
    ensureWebhookSecret: (projectId: string) => ensureWebhookSecret(pool, sealer, projectId),
  };
}

interface ProjectRow {
  id: string;
  name: string;
  max_concurrent_runs: number;
  monthly_run_quota: number | null;
  created_at: Date;
}

const columns = 'id, name, max_concurrent_runs, monthly_run_quota, created_at';

async function insertProject(
  db: Db,
  { projectId, name }: Pick<Project, 'projectId' | 'name'>,
): Promise<Project | null> {
  const { rows } = await db.query<ProjectRow>(
    `insert into projects (id, name) values ($1, $2) on conflict do nothing returning ${columns}`,
    [projectId, name],
  );
  return rows[0] ? toProject(rows[0]) : null;
}

async function findProject(db: Db, projectId: string): Promise<Project | null> {
  const text = `select ${columns} from projects where id = $1`;
  const { rows } = await db.query<ProjectRow>(text, [projectId]);
  return rows[0] ? toProject(rows[0]) : null;
}

async function listProjects(db: Db): Promise<Project[]> {
  const text = `select ${columns} from projects order by created_at, id`;
  const { rows } = await db.query<ProjectRow>(text);
  return rows.map(toProject);
}

async function updateProject(
  db: Db,
  projectId: string,
  patch: ProjectPatch,
): Promise<Project | null> {
  const { rows } = await db.query<ProjectRow>(
    `update projects
     set max_concurrent_runs = coalesce($2, max_concurrent_runs),
         monthly_run_quota = case when $3 then $4 else monthly_run_quota end
     where id = $1
     returning ${columns}`,
    [
      projectId,
      patch.maxConcurrentRuns ?? null,
      patch.monthlyRunQuota !== undefined,
      patch.monthlyRunQuota ?? null,
    ],
  );
  return rows[0] ? toProject(rows[0]) : null;
}

function toProject(row: ProjectRow): Project {
  return {
    projectId: row.id,
    name: row.name,
    maxConcurrentRuns: row.max_concurrent_runs,
    monthlyRunQuota: row.monthly_run_quota,
    createdAt: row.created_at,
  };
}
