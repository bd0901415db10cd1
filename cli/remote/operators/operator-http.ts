import type { Http } from '../../../client/http/http.ts';
import { CliError } from '../../format-error.ts';
import { note } from '../../print.ts';

interface OperatorAccess {
  url: string;
  token: string;
  signal?: AbortSignal | undefined;
}

/** The module is loaded on demand, so that help and usage errors are fast. */
export async function openOperatorHttp({ url, token, signal }: OperatorAccess): Promise<Http> {
  const { createHttp } = await import('../../../client/http/http.ts');
  return createHttp({ url, root: '/api', key: token, fetch, signal, onRetry: noteRetry });
}

export const noteRetry = ({ error, delayMs }: { error: Error; delayMs: number }): void =>
  note(`${error.message} Trying again in ${delayMs / 1_000} s.`);

/** The project of a token that reaches only one. */
export async function onlyProject(http: Http): Promise<string> {
  const ids = await projectIds(http);
  const [only, another] = ids;
  if (only !== undefined && another === undefined) return only;
  throw new CliError(
    only === undefined
      ? 'The service has no projects.'
      : `Pass --project, or set FLOWRUN_PROJECT: ${ids.join(', ')}`,
  );
}

/** The projects that the token reaches. */
export async function projectIds(http: Http): Promise<string[]> {
  const ids: string[] = [];
  for await (const project of http.items<{ projectId: string }>({ path: '/projects' }))
    ids.push(project.projectId);
  return ids;
}
