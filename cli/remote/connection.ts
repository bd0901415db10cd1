import type { Flowrun } from '../../client/index.ts';
import { readSignedInConfig } from '../../config/cli/signed-in-config.ts';
import { CliError } from '../format-error.ts';
import { note } from '../print.ts';
import { type Context, readContexts } from './contexts.ts';
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
    ...context,
    ...(signal === undefined ? {} : { signal }),
    onRetry: ({ error, delayMs }) => note(`${error.message} Trying again in ${delayMs / 1_000} s.`),
  });
}

/**
 * The variables win over the contexts. The key of a context is never sent to another address than
 * the one it was given for.
 */
export function currentContext(): Context {
  const { selected, contexts } = selectedContext();
  const url = selectedUrl();
  const known = [selected, ...Object.values(contexts)].find((context) => context?.url === url);
  const key = readSignedInConfig().key ?? known?.key;
  if (key === undefined) throw signInFirst();
  return { url, key };
}

/** The address of the service that commands call. */
export function selectedUrl(): string {
  const { url } = readSignedInConfig();
  const selected = url === undefined ? selectedContext().selected?.url : serviceUrl(url);
  if (selected === undefined) throw signInFirst();
  return selected;
}

function selectedContext() {
  const { current, contexts } = readContexts();
  return { selected: current === null ? undefined : contexts[current], contexts };
}

const signInFirst = () =>
  new CliError(
    'No service is selected. Sign in with `flowrun login <url> --key <key>`, or set FLOWRUN_URL and FLOWRUN_KEY.',
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
