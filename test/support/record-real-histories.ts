// Records a run and a session of the whole service, with worker, agent and containers, for
// test/unit/workflows/replay.test.ts: real-run.json and real-session.json. It needs the test stack:
// `node test/support/record-real-histories.ts`.

import { Client, Connection } from '@temporalio/client';
import { type Conversation, openConversation } from './conversation.ts';
import { failureOf } from './end-of-workflow.ts';
import { keepHistory } from './keep-history.ts';
import { script } from './prompts.ts';
import { type Service, startService } from './service.ts';
import { stackEnv } from './stack-env.ts';
import { startReceiver } from './webhook-receiver.ts';
import { workflowIdOf } from './workflow-of.ts';

const service = await startService({
  env: {
    PUBLIC_URL: 'https://runs.example',
    SESSION_IDLE_MS: '3000',
    SESSION_ATTENDED_IDLE_MS: '3000',
  },
});
const connection = await Connection.connect({ address: stackEnv.temporalAddress });
try {
  await keep('real-run', await wholeRun(service));
  await keep('real-session', await wholeSession(service));
} finally {
  await connection.close();
  await service.stop();
}

/** Waits for the end of the workflow first. */
async function keep(name: string, runId: string): Promise<void> {
  const { workflow } = new Client({ connection });
  const handle = workflow.getHandle(await workflowIdOf(service, runId));
  await failureOf(handle);
  await keepHistory(name, handle);
}

/** A run whose agent ends, with its webhook. */
async function wholeRun({ trigger }: Service): Promise<string> {
  const receiver = await startReceiver();
  const callbackUrl = `${receiver.url}/hook`;
  const { runId } = await trigger({ prompt: script([{ say: 'Done.' }]), callbackUrl });
  await until(async () => receiver.posts.length > 0);
  await receiver.close();
  return runId;
}

/**
 * Two turns, the second interrupted; a sleep; a turn in another sandbox; and a deletion by its
 * owner.
 */
async function wholeSession({ call, readRun, flowId }: Service): Promise<string> {
  const chat: Conversation = await openConversation(service);
  await chat.say(script([{ say: 'One.' }]));
  const hanging = await chat.send(script([{ say: 'Two.' }, { hang: true }]));
  await chat.until(({ event, data }) => event === 'chat_output' && data.includes('Two.'));
  await call('POST', `/runs/${chat.runId}/interrupt`);
  await chat.turn(hanging);
  await until(async () => (await readRun(chat.runId)).status === 'sleep');
  await chat.say(script([{ say: 'Three.' }]));
  await call('DELETE', `/flows/${flowId}/sessions/${chat.sessionId}`);
  await chat.closed;
  return chat.runId;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 100));
}
