// The session under test: its agent records each message that it starts, prints a lot, waits in the
// middle until the test releases it, and prints the rest. A test can therefore be sure that one
// message is half done and others are queued when something dies.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { foldersOf } from '../../../worker/sandbox/sandbox-paths.ts';
import { randomText } from '../../fixtures/scripted-agent/random-text.ts';
import type { Answer } from '../../support/api-client.ts';
import { script } from '../../support/prompts.ts';
import type { RunRecords } from '../run-records.ts';
import type { FaultFixture, InvariantOptions } from './fault-fixture.ts';
import { textsIn } from './flood.ts';
import type { Client } from './transcript.ts';

const linesPerHalf = 150;
const longEvery = 50;
const disconnectEvery = 97;
const timeoutMs = 240_000;
const releaseFile = (n: number): string => `go-${n}`;
const firstHalfText = (n: number): string => `the half of ${n}`;
const finalText = (n: number): string => `the last word of ${n}`;

interface FaultConversation {
  runId: string;
  steadyClient: Client;
  reconnectingClient: Client;
  /** The accepted messages, in order. */
  sent: string[];
  /** Sends the next message, once; it must be accepted. */
  send(): Promise<void>;
  /** Sends the next message, and retries after a failure or a timeout until it is accepted. */
  sendUntilAccepted(): Promise<void>;
  /** Resolves when the agent has reached the middle of this message that many times. */
  untilInMiddle(n: number, times?: number): Promise<void>;
  /** Releases the agent when it reaches the middle of these messages. */
  releaseAgents(which: number[], generation?: number): void;
  untilEnded(n: number): Promise<void>;
  /**
   * Waits for the sent messages, ends the session, and checks that each message was delivered,
   * processed and ended once, in order, and that both clients have seen the log.
   */
  expectComplete(options?: ConversationOptions): Promise<void>;
}

interface ConversationOptions extends InvariantOptions {
  /** The messages that the agent started, in order; each message once if omitted. */
  started?: number[];
  /** Messages that end as failed. */
  failed?: number[];
}

/** Opens a session in the middle of its first message, with two queued. */
export async function startConversation(fixture: FaultFixture): Promise<FaultConversation> {
  const conversation = await openFaultConversation(fixture);
  for (let n = 0; n < 3; n += 1) await conversation.send();
  await conversation.untilInMiddle(0);
  return conversation;
}

export async function openFaultConversation(fixture: FaultFixture): Promise<FaultConversation> {
  const { service } = fixture;
  const { flowId, call } = service;
  const opened = await call<Ids>('POST', `/flows/${flowId}/sessions`, { body: {} });
  const { sessionId, runId } = opened.data;
  const steadyClient = fixture.follow(runId, { name: 'steady client' });
  const reconnectingClient = fixture.follow(runId, {
    name: 'reconnecting client',
    disconnectEvery,
  });
  const sent: string[] = [];

  function post(n: number): Promise<Answer<Ids>> {
    const message = n < 0 ? reportStarted : messageOf(n);
    const body = { message, sessionId, stream: true, clientMessageId: `m-${n}` };
    return call('POST', `/flows/${flowId}/chat`, { body });
  }

  async function send(n = sent.length): Promise<void> {
    const answer = await post(n);
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    sent.push(answer.data.messageId);
  }

  const untilEnded = (n: number) => untilReceived(steadyClient, 'turn_end', sent[n] ?? 'none');

  return {
    runId,
    steadyClient,
    reconnectingClient,
    sent,
    send,
    async sendUntilAccepted() {
      const status = async () => (await post(sent.length)).status;
      await expect.poll(status, { timeout: timeoutMs }).toBe(202);
      await send();
    },
    untilInMiddle: (n, times) =>
      untilReceived(steadyClient, 'chat_output', firstHalfText(n), times),
    releaseAgents(which, generation = 1) {
      const { workspace } = foldersOf(service.dataDir, { runId, generation });
      for (const n of which) writeFileSync(join(workspace, releaseFile(n)), '');
    },
    untilEnded,
    async expectComplete({ started = sent.map((_, n) => n), failed = [], ...options } = {}) {
      await send(-1);
      for (const n of sent.keys()) await untilEnded(n);
      expect((await call('DELETE', `/flows/${flowId}/sessions/${sessionId}`)).status).toBe(200);
      const clients = [steadyClient, reconnectingClient];
      await Promise.all(clients.map((client) => client.untilFinished(timeoutMs)));
      const records = await fixture.expectInvariants(runId, { ...options, clients });
      expectTurns(records, { sent, failed, started });
      expect(reconnectingClient.transcript.connections.length).toBeGreaterThan(5);
    },
  };
}

/** Each is a separate frame. */
async function untilReceived(
  { transcript }: Client,
  ...[event, what, times = 1]: [event: string, what: string, times?: number]
): Promise<void> {
  const seen = () =>
    transcript.connections
      .flatMap(({ events }) => events)
      .filter((one) => one.event === event && one.data.includes(what)).length;
  const options = { timeout: timeoutMs, message: `${event} ${what}` };
  await expect.poll(seen, options).toBeGreaterThanOrEqual(times);
}

interface Ids {
  sessionId: string;
  runId: string;
  messageId: string;
}

const firstHalf = (n: number) => ({ seed: 2 * n + 1, longEvery });
const secondHalf = (n: number) => ({ seed: 2 * n + 2, longEvery });

function messageOf(n: number): string {
  return script([
    { shell: `echo ${n} >> begun` },
    { lines: linesPerHalf, ...firstHalf(n) },
    { say: firstHalfText(n) },
    { waitForFile: releaseFile(n) },
    { lines: linesPerHalf, ...secondHalf(n) },
    { say: finalText(n) },
  ]);
}

/** The agent's own record of the messages that it started. */
const reportStarted = script([{ shell: 'echo "begun: $(tr "\\n" " " < begun)"' }]);

interface ExpectedTurns {
  sent: string[];
  failed: number[];
  started: number[];
}

function expectTurns({ run, log }: RunRecords, { sent, failed, started }: ExpectedTurns): void {
  expect(run).toMatchObject({ endCause: 'stopped_by_api' });
  const turns = log
    .filter(({ event }) => event === 'user_message' || event === 'turn_end')
    .map(({ event, data }) => ({ event, ...(JSON.parse(data) as object) }))
    .filter((turn) => !('attempt' in turn)); // of a message whose container was lost
  expect(turns).toMatchObject(
    sent.flatMap((messageId, n) => [
      { event: 'user_message', messageId },
      { event: 'turn_end', messageId, exitCode: failed.includes(n) ? 1 : 0 },
    ]),
  );
  const recorded = log.map(({ data }) => /begun: ([\d ]*)/.exec(data)?.[1]).filter(Boolean);
  expect(recorded.at(-1)?.trim().split(' ').map(Number)).toEqual(started);
  const logged = textsIn(log).filter((text) => text !== '');
  expect(logged).toEqual(textsOf(started, failed));
}

/** Only the first half of an attempt that was repeated or failed. */
function textsOf(started: number[], failed: number[]): string[] {
  return started.flatMap((n, index) => {
    const half = [...linesOf(firstHalf(n)), firstHalfText(n)];
    if (started.lastIndexOf(n) !== index || failed.includes(n)) return half;
    return [...half, ...linesOf(secondHalf(n)), finalText(n)];
  });
}

const linesOf = (shape: { seed: number; longEvery: number }): string[] =>
  Array.from({ length: linesPerHalf }, (_, index) => randomText(index, shape));
