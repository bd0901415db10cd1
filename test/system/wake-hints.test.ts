// A hint starts the sandbox of a new or sleeping session while its workflow is still being
// signalled. The workflow keeps control: only its activity begins the first turn in the sandbox.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTcpHoldProxy, type TcpHoldProxy } from '../faults/support/tcp-hold-proxy.ts';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { linesIn } from '../support/log-lines.ts';
import { script } from '../support/prompts.ts';
import { putToSleep } from '../support/put-to-sleep.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';

const pollOptions = { timeout: 30_000 };
const timeout = 240_000;
/** Older messages are signalled by the reconciler. */
const unsignalledMs = 5_000;

let proxy: TcpHoldProxy;
let connection: Connection;
let service: Service;
beforeAll(async () => {
  proxy = await openTcpHoldProxy(`tcp://${stackEnv.temporalAddress}`);
  connection = await Connection.connect({ address: stackEnv.temporalAddress });
  // The reconciler, which would signal the workflow instead, runs once at the start.
  service = await startService({ env: { RECONCILE_EVERY_MS: '600000' } });
  await service.api.kill('SIGTERM');
  await service.api.start({ TEMPORAL_ADDRESS: new URL(proxy.url).host });
}, timeout);
afterAll(async () => {
  await service?.stop();
  await connection?.close();
  proxy?.close();
});

const saying = (text: string): string => script([{ say: text }]);

const workerLines = (event: string, { runId }: Conversation) =>
  linesIn(join(service.dataDir, 'worker.log')).filter(
    ({ msg, runId: of }) => msg === event && of === runId,
  );

const startedBy = (chat: Conversation): unknown[] =>
  workerLines('sandbox_started', chat).map((line) => line['startedBy']);

/** Sends a message whose signal is held until the sandbox is up. */
async function sayBeforeSignal(chat: Conversation, text: string): Promise<string> {
  const ready = chat.named('session_ready').length;
  const begun = workerLines('turn_started', chat).length;
  proxy.hold();
  const sent = await chat.send(saying(text));
  await expect.poll(() => chat.named('session_ready').length, pollOptions).toBe(ready + 1);
  await expect.poll(proxy.held, pollOptions).not.toBe('');
  await sleep(500);
  expect(workerLines('turn_started', chat)).toHaveLength(begun);
  proxy.release();
  expect(await chat.turn(sent)).toMatchObject({ exitCode: 0, texts: [text] });
  return sent;
}

it('starts the sandbox of a new and of a sleeping session before its workflow is signalled', {
  timeout,
}, async () => {
  const chat = await openConversation(service);
  const sent = [await sayBeforeSignal(chat, 'One.')];
  await putToSleep(service, connection, chat);
  sent.push(await sayBeforeSignal(chat, 'Two.'));
  sent.push((await chat.say(saying('Three.'))).messageId);
  await putToSleep(service, connection, chat);
  sent.push((await chat.say(saying('Four.'))).messageId);
  assertExactlyOnce(chat, sent);
  expect(startedBy(chat).slice(0, 2)).toEqual(['hint', 'hint']);
  expect(chat.named('session_ready')).toHaveLength(3);
  await endSession(service, chat);
});

it('leaves the start to the workflow while Temporal does not answer', { timeout }, async () => {
  const chat = await openConversation(service);
  await chat.say(saying('One.'));
  await putToSleep(service, connection, chat);
  const untilFailed = (event: string) =>
    expect
      .poll(() => linesIn(join(service.dataDir, 'api.log')), { timeout: 60_000 })
      .toContainEqual(expect.objectContaining({ msg: event }));
  proxy.blockAll();
  const other = await openConversation(service);
  await untilFailed('workflow_start_deferred');
  const sent = await chat.send(saying('Two.'));
  await untilFailed('message_signal_deferred');
  const text = 'select host_id, waiting_since from runs where id = $1';
  expect((await service.database.pool.query(text, [chat.runId])).rows).toEqual([
    { host_id: null, waiting_since: null },
  ]);
  proxy.restore();
  await sleep(unsignalledMs);
  await service.worker.restart();
  expect(await chat.turn(sent)).toMatchObject({ texts: ['Two.'] });
  expect(startedBy(chat)).toEqual([expect.anything(), 'activity']);
  for (const each of [chat, other]) await endSession(service, each);
});
