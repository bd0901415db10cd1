import { type ProjectModel, readProjectModel, sealModel } from '../admission/project-model.ts';
import type { Sealer } from '../admission/seal.ts';
import type { Db } from '../client/pool.ts';
import type { BlobOwner } from '../files/put-blob.ts';
import { archiveProject } from './archive-project.ts';
import { findUsedUpQuota, readStoredBytes } from './stored-bytes.ts';
import {
  ensureWebhookSecrets,
  prepareNextWebhookSecret,
  replaceWebhookSecret,
  rotateWebhookSecret,
} from './webhook-secret.ts';

export interface Project {
  projectId: string;
  name: string;
  maxConcurrentRuns: number;
  maxOpenSessions: number;
  /** Null: unlimited. */
  monthlyRunQuota: number | null;
  /** For model calls in a month. Null: unlimited. */
  monthlyBudgetUsd: number | null;
  /** Null: unlimited. */
  storageQuotaBytes: number | null;
  createdAt: Date;
  /** When the project was archived; null: it is not archived. */
  archivedAt: Date | null;
}

type ProjectLimit =
  | 'maxConcurrentRuns'
  | 'maxOpenSessions'
  | 'monthlyRunQuota'
  | 'monthlyBudgetUsd'
  | 'storageQuotaBytes';

export type ProjectPatch = Partial<
  Pick<Project, 'name' | ProjectLimit> & {
    /** Null: use the service's model API again. */
    model: ProjectModel | null;
  }
>;

export type NewProject = Pick<Project, 'projectId' | 'name'> & Partial<Pick<Project, ProjectLimit>>;

interface ProjectQuery {
  limit: number;
  /** A page's `next`. */
  after?: string;
  /** Null, and the default: all projects. */
  projectIds?: readonly string[] | null;
  /** The archived projects instead of those in use. */
  isArchived?: boolean;
}

interface ProjectPage {
  projects: Project[];
  next: string | null;
}

export type ProjectStore = ReturnType<typeof createProjectStore>;

export function createProjectStore(pool: Db, sealer: Sealer) {
  return {
    /** Null if the id is taken. */
    create: (input: NewProject) => insertProject(pool, input),
    find: (projectId: string) => findProject(pool, projectId),
    /** The same within a transaction: the project is locked until it ends. */
    findLocked: (projectId: string) => findLockedProject(pool, projectId),
    /** The projects in use, or the archived ones. */
    list: (isArchived = false) => listProjects(pool, isArchived),
    page: (query: ProjectQuery) => pageOfProjects(pool, query),
    /** Null if there is no such project. */
    update: (projectId: string, patch: ProjectPatch) =>
      updateProject(pool, sealer, { ...patch, projectId }),
    /** False if nothing changes. */
    archive: (projectId: string, isArchived: boolean) =>
      archiveProject(pool, { projectId, isArchived }),
    storedBytes: (projectId: string) => readStoredBytes(pool, projectId),
    /** Null if the storage quota of the project, or of a run's project, is not used up. */
    usedUpQuota: (of: BlobOwner['of']) => findUsedUpQuota(pool, of),
    readModel: (projectId: string) => readProjectModel(pool, sealer, projectId),
    /** The first call creates the current one; every call returns the same. */
    ensureWebhookSecrets: (projectId: string) => ensureWebhookSecrets(pool, sealer, projectId),
    /** Later attempts are signed with the current and with the returned secret. */
    prepareNextWebhookSecret: (projectId: string) =>
      prepareNextWebhookSecret(pool, sealer, projectId),
    /** Later attempts are signed with the next secret alone. Returns it, or null without one. */
    rotateWebhookSecret: (projectId: string) => rotateWebhookSecret(pool, sealer, projectId),
    /** Later attempts are signed with the returned secret alone, which is new. */
    replaceWebhookSecret: (projectId: string) => replaceWebhookSecret(pool, sealer, projectId),
  };
}

interface ProjectRow {
  id: string;
  name: string;
  max_concurrent_runs: number;
  max_open_sessions: number;
  monthly_run_quota: number | null;
  monthly_budget_usd: number | null;
  storage_quota_bytes: number | null;
  created_at: Date;
  archived_at: Date | null;
}

const columns = `id, name, max_concurrent_runs, max_open_sessions, monthly_run_quota,
  monthly_budget_usd, storage_quota_bytes, created_at, archived_at`;

async function insertProject(db: Db, input: NewProject): Promise<Project | null> {
  const bounds = Object.entries({
    max_concurrent_runs: input.maxConcurrentRuns,
    max_open_sessions: input.maxOpenSessions,
    monthly_run_quota: input.monthlyRunQuota,
    monthly_budget_usd: input.monthlyBudgetUsd,
    storage_quota_bytes: input.storageQuotaBytes,
  }).filter(([, value]) => value !== undefined);
  const names = ['id', 'name', ...bounds.map(([name]) => name)];
  const { rows } = await db.query<ProjectRow>(
    `insert into projects (${names.join(', ')})
     values (${names.map((_, i) => `$${i + 1}`).join(', ')})
     on conflict do nothing
     returning ${columns}`,
    [input.projectId, input.name, ...bounds.map(([, value]) => value)],
  );
  return rows[0] ? toProject(rows[0]) : null;
}

async function findProject(db: Db, projectId: string): Promise<Project | null> {
  const text = `select ${columns} from projects where id = $1`;
  const { rows } = await db.query<ProjectRow>(text, [projectId]);
  return rows[0] ? toProject(rows[0]) : null;
}

async function findLockedProject(db: Db, projectId: string): Promise<Project | null> {
  await db.query('select from projects where id = $1 for no key update', [projectId]);
  return findProject(db, projectId);
}

async function listProjects(db: Db, isArchived: boolean): Promise<Project[]> {
  const { rows } = await db.query<ProjectRow>(
    `select ${columns} from projects where (archived_at is not null) = $1
     order by created_at, id`,
    [isArchived],
  );
  return rows.map(toProject);
}

async function pageOfProjects(
  db: Db,
  { limit, after, projectIds, isArchived = false }: ProjectQuery,
): Promise<ProjectPage> {
  const { rows } = await db.query<ProjectRow>(
    `select ${columns} from projects
     where ($1::text is null
            or (created_at, id) > (select p.created_at, p.id from projects p where p.id = $1))
       and ($3::text[] is null or id = any($3))
       and (archived_at is not null) = $4
     order by created_at, id
     limit $2`,
    [after ?? null, limit + 1, projectIds ?? null, isArchived],
  );
  const projects = rows.slice(0, limit).map(toProject);
  return { projects, next: rows.length > limit ? (projects.at(-1)?.projectId ?? null) : null };
}

async function updateProject(
  db: Db,
  sealer: Sealer,
  { projectId, model, ...patch }: ProjectPatch & { projectId: string },
): Promise<Project | null> {
  const { rows } = await db.query<ProjectRow>(
    `update projects
     set name = coalesce($2, name),
         max_concurrent_runs = coalesce($3, max_concurrent_runs),
         monthly_run_quota = case when $4 then $5 else monthly_run_quota end,
         model_sealed = case when $6 then $7 else model_sealed end,
         max_open_sessions = coalesce($8, max_open_sessions),
         storage_quota_bytes = case when $9 then $10 else storage_quota_bytes end,
         monthly_budget_usd = case when $11 then $12 else monthly_budget_usd end
     where id = $1
     returning ${columns}`,
    [
      projectId,
      patch.name ?? null,
      patch.maxConcurrentRuns ?? null,
      patch.monthlyRunQuota !== undefined,
      patch.monthlyRunQuota ?? null,
      model !== undefined,
      model ? sealModel(sealer, projectId, model) : null,
      patch.maxOpenSessions ?? null,
      patch.storageQuotaBytes !== undefined,
      patch.storageQuotaBytes ?? null,
      patch.monthlyBudgetUsd !== undefined,
      patch.monthlyBudgetUsd ?? null,
    ],
  );
  return rows[0] ? toProject(rows[0]) : null;
}

function toProject(row: ProjectRow): Project {
  return {
    projectId: row.id,
    name: row.name,
    maxConcurrentRuns: row.max_concurrent_runs,
    maxOpenSessions: row.max_open_sessions,
    monthlyRunQuota: row.monthly_run_quota,
    monthlyBudgetUsd: row.monthly_budget_usd,
    storageQuotaBytes: row.storage_quota_bytes,
    createdAt: row.created_at,
    archivedAt: row.archived_at,
  };
}
