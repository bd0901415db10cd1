// Interrupts that arrive at an unexpected time: after the turn has ended, before its agent has
// started it, or while its sandbox is gone. An interrupt ends the turn that was current when the
// interrupt was accepted, and no other turn.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { openTcpHoldProxy, type TcpHoldProxy } from '../faults/support/tcp-hold-proxy.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import {
  restartAfterFailpoint,
  restartStopped,
  restartWithFailpoint,
} from '../support/kill-process.ts';
import { script } from '../support/prompts.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';

const patiently = { timeout: 180_000 };

const interrupt = async (service: Service, { runId }: Conversation): Promise<void> => {
  const answer = await service.call('POST', `/runs/${runId}/interrupt`);
  expect(answer).toMatchObject({ status: 200, data: { runId, finishedAt: null } });
};

const hanging = script([{ say: 'At work.' }, { hang: true }]);
const saying = (say: string): string => script([{ say }]);

describe.each(['scripted', 'real'] as const)('a session of the %s agent', patiently, (agent) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ agent });
  }, 240_000);
  afterAll(() => service?.stop());

  it('ends a turn that is interrupted before its agent has started it', async () => {
    const chat = await openConversation(service);
    // Neither agent ends on its own: the scripted agent hangs, and the real agent's model hangs.
    service.model.script([{ delayMs: 600_000 }, { text: 'never' }]);
    const message = await chat.send(hanging);
    await chat.until(({ event }) => event === 'user_message');
    await interrupt(service, chat);
    expect(await chat.turn(message)).toMatchObject({ exitCode: 1 });
    service.model.script([{ text: 'Next.' }]);
    expect(await chat.say(saying('Next.'))).toMatchObject({ exitCode: 0, texts: ['Next.'] });
    expect(chat.named('session_ready')).toHaveLength(1);
    await endSession(service, chat);
  });
});

describe('an interrupt', patiently, () => {
  let proxy: TcpHoldProxy;
  let service: Service;
  let connection: Connection;
  beforeAll(async () => {
    proxy = await openTcpHoldProxy(`tcp://${stackEnv.temporalAddress}`);
    connection = await Connection.connect({ address: stackEnv.temporalAddress });
    service = await startService({ env: { RECONCILE_EVERY_MS: '1000' } });
    await service.api.kill('SIGTERM');
    await service.api.start({ TEMPORAL_ADDRESS: new URL(proxy.url).host });
  }, 240_000);
  afterEach(() => restartStopped(service));
  afterAll(async () => {
    await service?.stop();
    await connection?.close();
    proxy?.close();
  });

  const working = (name: string): string =>
    script([
      { say: `${name} is at work.` },
      { waitForFile: `/workspace/${name}` },
      { say: `${name} is done.` },
    ]);
  const untilAtWork = (chat: Conversation, name: string) =>
    chat.until(({ event, data }) => event === 'chat_output' && data.includes(`${name} is at`));
  const releaseAgent = ({ runId }: Conversation, name: string): void => {
    const { workspace } = foldersOf(service.dataDir, { runId, generation: 1 });
    writeFileSync(join(workspace, name), '');
  };

  /** How many its workflow has forwarded to a host that has handled them. */
  async function handledInterrupts({ runId }: Conversation): Promise<number> {
    const { workflow } = new Client({ connection });
    const { events } = await workflow.getHandle(`session/${runId}`).fetchHistory();
    const scheduled = (events ?? []).filter(
      ({ activityTaskScheduledEventAttributes: of }) => of?.activityType?.name === 'interruptTurn',
    );
    const done = (events ?? []).map((event) => event.activityTaskCompletedEventAttributes);
    return scheduled.filter(({ eventId }) =>
      done.some((of) => of && String(of.scheduledEventId) === String(eventId)),
    ).length;
  }

  it('that is late ends the turn it was meant for or none, never the next one', async () => {
    const chat = await openConversation(service);
    const first = await chat.send(working('one'));
    const second = await chat.send(working('two'));
    await untilAtWork(chat, 'one');
    // It is accepted during the first turn, and reaches the session during the second.
    proxy.hold();
    const asking = interrupt(service, chat);
    await expect.poll(proxy.held).not.toBe('');
    releaseAgent(chat, 'one');
    await untilAtWork(chat, 'two');
    proxy.release();
    await asking;
    await expect.poll(() => handledInterrupts(chat)).toBe(1);
    releaseAgent(chat, 'two');
    const ended = await Promise.all([first, second].map((message) => chat.turn(message)));
    expect(ended).toMatchObject([
      { exitCode: 0, texts: ['one is at work.', 'one is done.'] },
      { exitCode: 0, texts: ['two is at work.', 'two is done.'] },
    ]);
    await endSession(service, chat);
  });

  it('ends a plain run whose workflow is being started, as a stop and a deletion do', async () => {
    proxy.hold();
    const trigger = async () => (await service.trigger({ prompt: hanging })).runId;
    const [interrupted, stopped, deleted] = [await trigger(), await trigger(), await trigger()];
    await expect.poll(proxy.held).not.toBe('');
    const answers = await Promise.all([
      service.call('POST', `/runs/${interrupted}/interrupt`),
      service.call('POST', `/runs/${stopped}/stop`, { body: { graceSeconds: 0 } }),
      service.call('DELETE', `/runs/${deleted}`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    proxy.release();
    // Its hint may have started the sandbox, which ends with the run.
    const ends = await Promise.all([interrupted, stopped].map((id) => service.untilEnded(id)));
    expect(ends).toMatchObject([
      { error: 'interrupted_by_api', status: 'sleep' },
      { error: 'stopped_by_api', status: 'sleep' },
    ]);
    const { pool } = service.database;
    const query = 'select end_cause from runs where id = $1 and ended_at is not null';
    const rows = async () => (await pool.query(query, [deleted])).rows;
    await expect.poll(rows).toEqual([{ end_cause: 'deleted_by_api' }]);
    const left = async () =>
      (await service.sandboxes.list()).filter(({ runId }) =>
        [interrupted, stopped, deleted].includes(runId),
      );
    await expect.poll(left).toEqual([]);
  });

  it('has no effect on a message whose sandbox is still starting', async () => {
    const chat = await openConversation(service);
    const message = await chat.send(saying('I came up.'));
    await interrupt(service, chat);
    expect(chat.named('user_message')).toEqual([]);
    expect(await chat.turn(message)).toMatchObject({ exitCode: 0, texts: ['I came up.'] });
    await endSession(service, chat);
  });

  it('ends a turn whose worker was dead at the request, before the agent receives the message', async () => {
    await restartWithFailpoint(service.worker, 'turn.claimed');
    const chat = await openConversation(service);
    const message = await chat.send(hanging);
    await restartAfterFailpoint(service.worker, async () => {
      await chat.until(({ event }) => event === 'user_message');
      await interrupt(service, chat);
    });
    expect(await chat.turn(message)).toMatchObject({ exitCode: 1 });
    expect(await chat.say(saying('Next.'))).toMatchObject({ exitCode: 0 });
    await endSession(service, chat);
  });

  it('ends a turn whose container has just died as soon as it is restarted', async () => {
    const chat = await openConversation(service);
    const message = await chat.send(hanging);
    await chat.until(({ event }) => event === 'chat_output');
    const own = (await service.sandboxes.list()).find(({ runId }) => runId === chat.runId);
    await service.sandboxes.signal(own?.containerId ?? '', 'SIGKILL');
    await interrupt(service, chat);
    expect(await chat.turn(message)).toMatchObject({ exitCode: 1 });
    expect(chat.named('turn_end')).toHaveLength(1);
    expect(await chat.say(saying('Next.'))).toMatchObject({ exitCode: 0 });
    await endSession(service, chat);
  });
});
