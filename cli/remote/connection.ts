import type { Flowrun } from '../../client/index.ts';
import { readOperatorConfig } from '../../config/cli/operator-config.ts';
import { readSignedInConfig } from '../../config/cli/signed-in-config.ts';
import { omitUndefined } from '../../core/omit-undefined.ts';
import { CliError } from '../format-error.ts';
import { type Context, readContexts } from './contexts.ts';
import { noteRetry, onlyProject, openOperatorHttp } from './operators/operator-http.ts';
import { readSettings, writeSettings } from './settings-folder.ts';

/** The service that commands call. */
export interface Connection {
  flowrun: Flowrun;
  url: string;
}

/** The client is loaded on demand, so that help and usage errors are fast. */
export async function connect(): Promise<Connection> {
  const context = currentContext();
  return { flowrun: await openClient(context), url: context.url };
}

export async function openClient(context: Context, signal?: AbortSignal): Promise<Flowrun> {
  const client = await import('../../client/index.ts');
  return new client.Flowrun({
    url: context.url,
    ...(await credentialsOf(context, signal)),
    ...(signal === undefined ? {} : { signal }),
    onRetry: noteRetry,
  });
}

/** A key is for one project. An operator token may be for several, so it needs one. */
async function credentialsOf(
  { url, key, token, project }: Context,
  signal: AbortSignal | undefined,
): Promise<{ key: string; project?: string }> {
  if (key !== undefined) return { key };
  if (token === undefined) throw signInFirst();
  const ofProject = project ?? (await onlyProject(await openOperatorHttp({ url, token, signal })));
  return { key: token, project: ofProject };
}

/** The service and the credentials of commands for runs. */
export function currentContext(): Context {
  const service = selectedService();
  if ((service.key ?? service.token) === undefined) throw signInFirst();
  return service;
}

/**
 * The variables win over the contexts. The credentials of a context are never sent to another
 * address than the one they were given for.
 */
export function selectedService(): Context {
  const { current, contexts } = readContexts();
  const selected = current === null ? undefined : contexts[current];
  const { url: given, key } = readSignedInConfig();
  const url = given === undefined ? selected?.url : serviceUrl(given);
  if (url === undefined) throw signInFirst();
  const known = [selected, ...Object.values(contexts)].find((context) => context?.url === url);
  return { url, ...known, ...omitUndefined({ key, ...readOperatorConfig() }) };
}

const signInFirst = () =>
  new CliError(
    'No service is selected. Sign in with `flowrun login <url> --key <key>` or `flowrun login <url> --token`, or set FLOWRUN_URL and FLOWRUN_KEY.',
  );

/** The same service has one spelling. */
export function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '')
    throw new CliError('The address of a service looks like https://flowrun.example.com.');
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}`;
}

const lastRunsFile = 'last-runs.json';

/** Remembers a run that was started, for `@`. A read-only home folder does not fail the command. */
export function rememberRun(url: string, runId: string): void {
  try {
    writeSettings(lastRunsFile, { ...readSettings(lastRunsFile), [url]: runId });
  } catch {
    // The ID has been printed.
  }
}

export function lastRunId(url: string): string {
  const runId = readSettings(lastRunsFile)[url];
  if (typeof runId === 'string') return runId;
  throw new CliError(`No run of ${url} was started from here.`);
}
