// The session under test: its agent records each message that it starts, prints a lot, waits in the
// middle until the test releases it, and prints the rest. A test can therefore be sure that one
// message is half done and others are queued when something dies.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { foldersOf } from '../../../worker/sandbox/sandbox-paths.ts';
import { randomText } from '../../fixtures/scripted-agent/random-text.ts';
import type { Answer } from '../../support/api-client.ts';
import { script } from '../../unit/scripted-agent/lines.ts';
import type { Evidence } from '../evidence.ts';
import type { About, FaultFixture } from './fault-fixture.ts';
import { textsIn } from './flood.ts';
import type { Client } from './transcript.ts';

const linesOfHalf = 150;
const longEvery = 50;
const hangUpEvery = 97;
const patienceMs = 240_000;
const gate = (n: number): string => `go-${n}`;
const halfWord = (n: number): string => `the half of ${n}`;
const lastText = (n: number): string => `the last word of ${n}`;

interface FaultConversation {
  runId: string;
  stays: Client;
  comesAndGoes: Client;
  /** The accepted messages, in order. */
  sent: string[];
  /** Sends the next message, once; it must be accepted. */
  send(): Promise<void>;
  /** Sends the next message, and retries after a failure or a timeout until it is accepted. */
  sendAgainUntilTaken(): Promise<void>;
  /** Resolves when the agent has reached the middle of this message that many times. */
  untilInMiddle(n: number, times?: number): Promise<void>;
  /** Releases the agent when it reaches the middle of these messages. */
  releaseAgents(which: number[], generation?: number): void;
  untilEnded(n: number): Promise<void>;
  /**
   * Waits for the sent messages, ends the session, and checks that each message was delivered,
   * processed and ended once, in order, and that both clients have seen the log.
   */
  expectWhole(about?: TalkAbout): Promise<void>;
}

interface TalkAbout extends About {
  /** The messages that the agent started, in order; each message once if omitted. */
  started?: number[];
  /** Messages that end as failed. */
  failed?: number[];
}

/** Opens a session in the middle of its first message, with two queued. */
export async function startConversation(fixture: FaultFixture): Promise<FaultConversation> {
  const talk = await openFaultConversation(fixture);
  for (let n = 0; n < 3; n += 1) await talk.send();
  await talk.untilInMiddle(0);
  return talk;
}

export async function openFaultConversation(fixture: FaultFixture): Promise<FaultConversation> {
  const { service } = fixture;
  const { flowId, call } = service;
  const opened = await call<Ids>('POST', `/flows/${flowId}/sessions`, { body: {} });
  const { sessionId, runId } = opened.data;
  const stays = fixture.follow(runId, { name: 'who stays' });
  const comesAndGoes = fixture.follow(runId, { name: 'who comes and goes', hangUpEvery });
  const sent: string[] = [];

  function post(n: number): Promise<Answer<Ids>> {
    const message = n < 0 ? question : messageOf(n);
    const body = { message, sessionId, stream: true, clientMessageId: `m-${n}` };
    return call('POST', `/flows/${flowId}/chat`, { body });
  }

  async function send(n = sent.length): Promise<void> {
    const answer = await post(n);
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    sent.push(answer.data.messageId);
  }

  const untilEnded = (n: number) => untilSeen(stays, 'turn_end', sent[n] ?? 'none');

  return {
    runId,
    stays,
    comesAndGoes,
    sent,
    send,
    async sendAgainUntilTaken() {
      const status = async () => (await post(sent.length)).status;
      await expect.poll(status, { timeout: patienceMs }).toBe(202);
      await send();
    },
    untilInMiddle: (n, times) => untilSeen(stays, 'chat_output', halfWord(n), times),
    releaseAgents(which, generation = 1) {
      const { workspace } = foldersOf(service.dataDir, { runId, generation });
      for (const n of which) writeFileSync(join(workspace, gate(n)), '');
    },
    untilEnded,
    async expectWhole({ started = sent.map((_, n) => n), failed = [], ...about } = {}) {
      await send(-1);
      for (const n of sent.keys()) await untilEnded(n);
      expect((await call('DELETE', `/flows/${flowId}/sessions/${sessionId}`)).status).toBe(200);
      const clients = [stays, comesAndGoes];
      await Promise.all(clients.map((client) => client.seenEnd(patienceMs)));
      const evidence = await fixture.expectInvariants(runId, { ...about, clients });
      expectTalk(evidence, { sent, failed, started });
      expect(comesAndGoes.transcript.connections.length).toBeGreaterThan(5);
    },
  };
}

/** Each is a separate frame. */
async function untilSeen(
  { transcript }: Client,
  ...[event, what, times = 1]: [event: string, what: string, times?: number]
): Promise<void> {
  const seen = () =>
    transcript.connections
      .flatMap(({ events }) => events)
      .filter((one) => one.event === event && one.data.includes(what)).length;
  const options = { timeout: patienceMs, message: `${event} ${what}` };
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
    { lines: linesOfHalf, ...firstHalf(n) },
    { say: halfWord(n) },
    { waitForFile: gate(n) },
    { lines: linesOfHalf, ...secondHalf(n) },
    { say: lastText(n) },
  ]);
}

/** The agent's own record of the messages that it started. */
const question = script([{ shell: 'echo "begun: $(tr "\\n" " " < begun)"' }]);

interface TalkOutcome {
  sent: string[];
  failed: number[];
  started: number[];
}

function expectTalk({ run, log }: Evidence, { sent, failed, started }: TalkOutcome): void {
  expect(run).toMatchObject({ endCause: 'stopped_by_api' });
  const turns = log.filter(({ event }) => event === 'user_message' || event === 'turn_end');
  expect(
    turns.map(({ event, data }) => ({ event, ...(JSON.parse(data) as object) })),
  ).toMatchObject(
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
    const half = [...linesOf(firstHalf(n)), halfWord(n)];
    if (started.lastIndexOf(n) !== index || failed.includes(n)) return half;
    return [...half, ...linesOf(secondHalf(n)), lastText(n)];
  });
}

const linesOf = (shape: { seed: number; longEvery: number }): string[] =>
  Array.from({ length: linesOfHalf }, (_, index) => randomText(index, shape));
