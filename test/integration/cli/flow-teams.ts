// Projects without flows, each with a token for it and a folder for its flows.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, onTestFinished } from 'vitest';
import type { Flow } from '../../../client/generated/types.ts';
import { type RemoteCli, remoteCli } from '../../support/remote-cli.ts';
import { type OperatorClient, signedIn } from '../api/operators/operator-client.ts';
import { useApi } from '../api/use-api.ts';

interface Team {
  flowrun: RemoteCli;
  variables: Record<string, string>;
  projectId: string;
  /** Writes a file of the folder `flows`. */
  put(path: string, text: string, mode?: number): void;
  flows(query?: string): Promise<Flow[]>;
}

export function useTeams() {
  const { fixture, api } = useApi();
  let signedInOperator: OperatorClient;
  beforeAll(async () => {
    signedInOperator = await signedIn(fixture, api);
  });
  const operator: OperatorClient = (path, options) => signedInOperator(path, options);

  async function newTeam(env: Record<string, string> = {}): Promise<Team> {
    const { projectId, flowId } = await fixture.tenant();
    const path = `/api/projects/${projectId}/flows`;
    await operator(`${path}/${flowId}`, { method: 'DELETE' });
    const expiresAt = new Date(Date.now() + 3_600_000);
    const token = { operator: 'olga', name: 'ci', expiresAt, projectIds: [projectId] };
    const created = await fixture.stores.operatorTokens.create(token);
    const variables = { FLOWRUN_URL: api.url, FLOWRUN_TOKEN: created?.token ?? '', ...env };
    const flowrun = remoteCli(variables);
    onTestFinished(() => flowrun.remove());
    return {
      flowrun,
      variables,
      projectId,
      put(name, text, mode = 0o644) {
        const file = join(flowrun.home, 'flows', name);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text, { mode });
      },
      flows: async (query = '') => (await operator(`${path}${query}`)).json.data,
    };
  }

  return { newTeam, operator };
}

/** The mode and the text of each file below a folder. */
export function treeOf(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter((path) => statSync(join(folder, path)).isFile());
  return Object.fromEntries(
    files.map((path) => {
      const mode = (statSync(join(folder, path)).mode & 0o100) === 0 ? '644' : '755';
      return [path, `${mode} ${readFileSync(join(folder, path), 'utf8')}`];
    }),
  );
}
