// The agent's input: whole messages, one at a time, into an ordinary pipe. The host may die in the
// middle of an answer, and then the same message is asked for again; a message is written only when
// all of it is here, so the agent never reads half a line.

import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Timeouts } from './constants.ts';
import type { Host } from './host-client.ts';

type Next = { index: number; line: string } | 'closed' | 'nothing';

/** Resolves when the input is closed, or when the agent no longer reads it. */
export async function feedAgent(
  host: Host,
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

async function nextMessage(host: Host, after: number, signal: AbortSignal): Promise<Next> {
  const path = `/control/messages?after=${after}`;
  const answer = await host.requestWithRetry({ method: 'GET', path }, signal);
  if (answer.status === 410) return 'closed';
  return answer.status === 200 ? readMessage(answer.body) : 'nothing';
}

function readMessage(body: string): Next {
  const said = JSON.parse(body) as { closed?: boolean; index?: number; line?: string }; // the host's own shape
  if (said.closed === true) return 'closed';
  const { index, line } = said;
  return index === undefined || line === undefined ? 'nothing' : { index, line };
}

/** A broken pipe is no error here: the agent's exit tells the same. */
function write(stdin: Writable, text: string): Promise<void> {
  return new Promise((resolve) => void stdin.write(text, () => resolve()));
}
