// Writes whole messages, one at a time, to the agent's stdin. If the host dies in the middle of a
// response, the message is requested again. A message is only written once it is complete, so the
// agent never reads a partial line.

import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Timeouts } from './constants.ts';
import type { HostClient } from './host-client.ts';

type Next = { index: number; line: string } | 'closed' | 'nothing';

/** Resolves when the input is closed, or when the agent no longer reads it. */
export async function feedAgent(
  host: HostClient,
  { stdin, timeouts, signal }: { stdin: Writable; timeouts: Timeouts; signal: AbortSignal },
): Promise<void> {
  for (let after = 0; stdin.writable; ) {
    const next = await nextMessage(host, after, signal);
    if (next === 'closed') return void stdin.end();
    if (next === 'nothing' || next.index <= after) {
      await sleep(timeouts.redialMs, null, { signal });
    } else {
      await write(stdin, `${next.line.trimEnd()}\n`);
      after = next.index;
    }
  }
}

async function nextMessage(host: HostClient, after: number, signal: AbortSignal): Promise<Next> {
  const path = `/control/messages?after=${after}`;
  const response = await host.requestWithRetry({ method: 'GET', path }, signal);
  if (response.status === 410) return 'closed';
  return response.status === 200 ? readMessage(response.body) : 'nothing';
}

function readMessage(body: string): Next {
  const message = JSON.parse(body) as { closed?: boolean; index?: number; line?: string }; // the host's own shape
  if (message.closed === true) return 'closed';
  const { index, line } = message;
  return index === undefined || line === undefined ? 'nothing' : { index, line };
}

/** A broken pipe is not an error here: the agent's exit is reported instead. */
function write(stdin: Writable, text: string): Promise<void> {
  return new Promise((resolve) => void stdin.write(text, () => resolve()));
}
