import { Client, Connection } from '@temporalio/client';
import { expect } from 'vitest';
import { type Conversation, openConversation } from './conversation.ts';
import { script } from './prompts.ts';
import { type Service, startService } from './service.ts';
import { stackEnv } from './stack-env.ts';

/** The number of messages sent maxAhead, below the limit of the queue. */
const maxAhead = 40;
const turnWithinMs = 120_000;

/**
 * Sends many messages to one session, while its workers are killed and its workflow continues as
 * new. The agent must answer each message once and in order, without a restart.
 */
export async function expectLongChat({
  messages,
  kills,
  turnsPerHistory,
}: {
  messages: number;
  kills: number;
  turnsPerHistory: number;
}): Promise<void> {
  const env = { SESSION_TURNS_PER_HISTORY: String(turnsPerHistory), LOG_LEVEL: 'info' };
  const service = await startService({ env });
  const connection = await Connection.connect({ address: stackEnv.temporalAddress });
  try {
    const chat = await openConversation(service);
    const client = new Client({ connection });
    const isContinued = async () => (await historiesOf(client, chat.runId)) > 1;
    await sendMessages(service, chat, { messages, kills, isContinued });
    const outputs = chat.named('chat_output').map(({ data }) => JSON.parse(data) as unknown);
    expect(outputs).toEqual(Array.from({ length: messages }, (_, n) => ({ text: `${n}` })));
    expect(chat.named('turn_end')).toHaveLength(messages);
    expect(chat.named('user_message')).toHaveLength(messages);
    expect(chat.named('session_ready')).toHaveLength(1);
    const ids = chat.events.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
    expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index));
  } catch (error) {
    const problems = service.api
      .log()
      .split('\n')
      .filter((line) => /"level":[56]0/.test(line));
    throw new Error(`errors in the API's log: ${problems.join('\n')}`, { cause: error });
  } finally {
    await connection.close();
    await service.stop();
  }
}

interface Sending {
  messages: number;
  kills: number;
  /** Whether the workflow has continued as new. */
  isContinued: () => Promise<boolean>;
}

/**
 * Sends the second half to a later history. The workflow may continue as new late: while it waits
 * for the retry of an activity whose worker was killed, hints begin the turns.
 */
async function sendMessages(
  service: Service,
  chat: Conversation,
  { messages, kills, isContinued }: Sending,
): Promise<void> {
  const sent: string[] = [];
  const killEvery = Math.floor(messages / (kills + 1));
  for (let n = 0; n < messages; n += 1) {
    const before = sent[n - maxAhead];
    if (before !== undefined) await chat.turn(before, turnWithinMs);
    if (n === messages / 2) await expect.poll(isContinued, { timeout: turnWithinMs }).toBe(true);
    if (n > 0 && n % killEvery === 0 && n / killEvery <= kills)
      await service.worker.restart('SIGKILL');
    sent.push(await chat.send(script([{ say: `${n}` }]), { clientMessageId: `m-${n}` }));
  }
  await chat.turn(sent.at(-1) ?? '', turnWithinMs);
}

/** The number of executions of the workflow. */
async function historiesOf(client: Client, runId: string): Promise<number> {
  const workflowId = `session/${runId}`;
  let count = 0;
  let next: string | undefined;
  do {
    const handle = client.workflow.getHandle(workflowId, next);
    const { events } = await handle.fetchHistory();
    const started = events?.[0]?.workflowExecutionStartedEventAttributes;
    next = started?.continuedExecutionRunId || undefined;
    count += 1;
  } while (next !== undefined);
  return count;
}
