import { beforeEach } from 'vitest';
import type { Answer } from './call.ts';
import { useTenant } from './use-api.ts';

export const miB = 1024 ** 2;

export const utf8 = (path: string, content = path) => ({ path, content, encoding: 'utf8' });

/** Runs with input files, in a separate project and flow for each test. */
export function useGivenFiles() {
  const { fixture, api, tenant, call } = useTenant();
  beforeEach(async () => {
    Object.assign(tenant, await fixture.tenant());
  });

  const trigger = (files: unknown, more: object = {}) =>
    call(`/api/v1/flows/${tenant.flowId}/runs`, { body: { prompt: 'Go', files, ...more } });
  const filesOf = async ({ json }: Answer): Promise<{ path: string; scope: string }[]> =>
    (await call(`/api/v1/runs/${json.data.runId}/files?limit=200`)).json.data;
  const pathsOf = async (answer: Answer) => (await filesOf(answer)).map(({ path }) => path);
  const storage = async () => (await call('/api/v1/flows')).json.data[0].storage;

  /** Counts the tenant's stored rows. */
  async function counts() {
    const { rows } = await fixture.database.pool.query<{ runs: number; files: number }>(
      `select (select count(*) from runs where project_id = $1) as runs,
              (select count(*) from flow_files where flow_id = $2) as files`,
      [tenant.projectId, tenant.flowId],
    );
    return rows[0];
  }

  return { fixture, api, tenant, call, trigger, filesOf, pathsOf, storage, counts };
}
