import { Option } from 'commander';
import type { Http } from '../../../client/http/http.ts';
import type { FlowService } from '../../flow-files/flow-service.ts';
import { CliError } from '../../format-error.ts';
import { selectedService } from '../connection.ts';
import { onlyProject, openOperatorHttp } from './operator-http.ts';

export const projectOption = (): Option =>
  new Option('--project <project>', 'the project (default: the one of the context)').env(
    'FLOWRUN_PROJECT',
  );

/** The flows of a project, as an operator reaches them. */
export async function flowService(project: string | undefined): Promise<FlowService> {
  const { createFlowService } = await import('../../flow-files/flow-service.ts');
  const operator = await connectAsOperator(project);
  return createFlowService(operator.http, operator.project);
}

/** Calls the operator's routes, for the project that is given, or else the one of the context. */
export async function connectAsOperator(
  given?: string,
): Promise<{ http: Http; url: string; project: string }> {
  const { http, url } = await openOperator();
  return { http, url, project: given ?? selectedService().project ?? (await onlyProject(http)) };
}

/** Calls the operators' routes. */
export async function openOperator(): Promise<{ http: Http; url: string }> {
  const { url, token } = selectedService();
  if (token === undefined)
    throw new CliError(
      'Sign in as an operator with `flowrun login <url> --token`, or set FLOWRUN_TOKEN.',
    );
  return { http: await openOperatorHttp({ url, token }), url };
}
