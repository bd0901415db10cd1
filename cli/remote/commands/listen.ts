import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { isFlowrunError } from '../../../client/http/errors.ts';
import { textIn } from '../../../core/json.ts';
import { type EndpointEvent, endpointEvents } from '../../../core/webhook.ts';
import { sleep } from '../../../lib/async/sleep.ts';
import { UsageError } from '../../format-error.ts';
import { note, write } from '../../print.ts';
import { watchInterrupts } from '../interrupts.ts';
import { type Forwarded, forwardEvent } from '../listen/forward-event.ts';
import { type Listener, openListener } from '../listen/listener.ts';
import { connectAsOperator, projectOption } from '../operators/operator-connection.ts';
import { noteRetry } from '../operators/operator-http.ts';
import { list } from '../remote-options.ts';
import { readSettings, writeSettings } from '../settings-folder.ts';

interface ListenOptions {
  forwardTo: string;
  project?: string;
  event?: string[];
  json?: true;
}

export function listenCommand(): Command {
  return new Command('listen')
    .description('forward the webhooks of a project to this machine until Ctrl-C')
    .requiredOption('--forward-to <url>', 'where to send them, such as http://localhost:3000/hook')
    .addOption(projectOption())
    .option('--event <event>', `only this event; repeatable: ${endpointEvents.join(', ')}`, list)
    .option('--json', 'print one line of JSON per delivery')
    .addHelpText('after', help)
    .action(listen);
}

const help = `
The deliveries have the headers and bodies of a webhook endpoint. They are signed with a secret of
this machine, which is printed and stays the same. The command needs an operator token.`;

async function listen({ forwardTo, project, event, json }: ListenOptions): Promise<void> {
  const url = localUrl(forwardTo);
  const events = event?.map(endpointEvent);
  const secret = listenSecret();
  const operator = await connectAsOperator(project);
  const interrupts = watchInterrupts('SIGINT', 'SIGTERM');
  const path = `/projects/${encodeURIComponent(operator.project)}`;
  const listener = await openListener({ ...operator, path, events });
  note(`The webhooks of ${operator.project} are forwarded to ${url} until Ctrl-C.`);
  note(`They are signed with the secret ${secret}`);
  const print = json === true ? printJson : printLine;
  try {
    await forwardAll(listener, { url, secret, print, signal: interrupts.signal });
  } finally {
    await listener.close();
    interrupts.close();
  }
}

interface Forwarding {
  url: string;
  secret: string;
  print(forwarded: Forwarded): void;
  signal: AbortSignal;
}

const pollMs = 1_000;
const retryMs = 5_000;

/** An outage of the service does not end the command: the events are stored meanwhile. */
async function forwardAll(listener: Listener, forwarding: Forwarding): Promise<void> {
  const { signal } = forwarding;
  while (!signal.aborted) {
    try {
      await forwardUnread(listener, forwarding);
      await sleep(pollMs, signal);
    } catch (error) {
      if (!isFlowrunError(error) || (error.status ?? 500) < 500) throw error;
      noteRetry({ error, delayMs: retryMs });
      await sleep(retryMs, signal);
    }
  }
}

async function forwardUnread(
  listener: Listener,
  { print, signal, ...target }: Forwarding,
): Promise<void> {
  for (const event of await listener.unread()) {
    if (signal.aborted) return;
    const body = await listener.bodyOf(event.eventId);
    print(await forwardEvent({ ...event, body }, target));
    listener.markRead(event.eventId);
  }
}

function localUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href;
  throw new UsageError(
    '--forward-to must be an http or https URL such as http://localhost:3000/hook.',
  );
}

function endpointEvent(name: string): EndpointEvent {
  const event = endpointEvents.find((each) => each === name);
  if (event !== undefined) return event;
  throw new UsageError(`--event must be one of ${endpointEvents.join(', ')}.`);
}

const secretFile = 'listen-secret.json';

/** Stays the same, so that a receiver is configured once. */
function listenSecret(): string {
  const stored = textIn(readSettings(secretFile), 'secret');
  if (stored !== null) return stored;
  const secret = `whs_${randomBytes(32).toString('base64url')}`;
  writeSettings(secretFile, { secret });
  return secret;
}

const printJson = (forwarded: Forwarded): void => write(JSON.stringify(forwarded));

function printLine({ event, eventId, runId, status, error, tookMs }: Forwarded): void {
  const subject = runId === null ? eventId.slice(0, 8) : `run ${runId.slice(0, 8)}`;
  write(`${event.padEnd(17)}  ${subject.padEnd(12)}  ${status ?? error}  ${tookMs} ms`);
}
