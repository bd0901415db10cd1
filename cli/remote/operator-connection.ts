import { Option } from 'commander';
import type { Http } from '../../client/http/http.ts';
import { readOperatorConfig } from '../../config/cli/operator-config.ts';
import type { FlowService } from '../flow-files/flow-service.ts';
import { CliError } from '../format-error.ts';
import { note } from '../print.ts';
import { selectedUrl } from './connection.ts';

export const projectOption = (): Option =>
  new Option('--project <project>', 'the project (default: the only one of the token)').env(
    'FLOWRUN_PROJECT',
  );

/** The flows of a project, as an operator reaches them. */
export async function flowService(project: string | undefined): Promise<FlowService> {
  const { createFlowService } = await import('../flow-files/flow-service.ts');
  const http = await connectAsOperator();
  return createFlowService(http, project ?? (await onlyProject(http)));
}

/** The module is loaded on demand, so that help and usage errors are fast. */
async function connectAsOperator(): Promise<Http> {
  const { token } = readOperatorConfig();
  if (token === undefined)
    throw new CliError(
      'Set FLOWRUN_TOKEN to an operator token: see `flowrun token create --help`.',
    );
  const { createHttp } = await import('../../client/http/http.ts');
  return createHttp({
    url: selectedUrl(),
    root: '/api',
    key: token,
    fetch,
    signal: undefined,
    onRetry: ({ error, delayMs }) => note(`${error.message} Trying again in ${delayMs / 1_000} s.`),
  });
}

async function onlyProject(http: Http): Promise<string> {
  const ids: string[] = [];
  for await (const project of http.items<{ projectId: string }>({ path: '/projects' }))
    ids.push(project.projectId);
  const [only, another] = ids;
  if (only !== undefined && another === undefined) return only;
  throw new CliError(
    only === undefined ? 'The service has no projects.' : `Pass --project: ${ids.join(', ')}`,
  );
}
