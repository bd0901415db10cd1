import { setTimeout as sleep } from 'node:timers/promises';
import { createHostStore } from '../../systems/postgres/hosts/host-store.ts';
import type { Service } from '../../test/support/service.ts';

/** Concurrent requests, as from several clients. */
const atOnce = 8;
const pollMs = 200;

/** Starts runs, each with a client that reads its stream to the end. */
export async function makeRuns(service: Service, count: number): Promise<void> {
  await forEach(count, async () => {
    const { runId } = await connected(() => service.trigger({ prompt: 'Do this.' }));
    const events = service.stream(runId)[Symbol.asyncIterator]();
    while ((await events.next()).done !== true);
  });
}

/** Opens sessions, and waits for the answer to the first message of each. */
export async function openSessions(service: Service, count: number): Promise<string[]> {
  const opened: string[] = [];
  await forEach(count, async () => {
    const path = `/flows/${service.flowId}/sessions`;
    const answer = await connected(() =>
      service.call<{ sessionId: string }>('POST', path, { body: {} }),
    );
    if (answer.status !== 201) throw new Error(`not opened: ${JSON.stringify(answer.body)}`);
    opened.push(answer.data.sessionId);
    await say(service, answer.data.sessionId);
  });
  return opened;
}

/** Sends messages to the sessions in turn, and waits for each answer. */
export async function sendMessages(
  service: Service,
  sessions: readonly string[],
  count: number,
): Promise<void> {
  await forEach(count, (n) => say(service, sessions[n % sessions.length] ?? ''));
}

async function say({ call, flowId }: Service, sessionId: string): Promise<void> {
  const body = { message: 'Do this.', sessionId, stream: false };
  const answer = await connected(() => call('POST', `/flows/${flowId}/chat`, { body }));
  if (answer.status !== 200) throw new Error(`no answer: ${JSON.stringify(answer.body)}`);
}

/** Drains the hosts, so their idle sessions go to sleep. Then the hosts take work again. */
export async function putAllToSleep(service: Service): Promise<void> {
  const hosts = createHostStore(service.database.pool);
  const drain = async (draining: boolean): Promise<void> => {
    for (const { hostId } of await hosts.list()) await hosts.setDraining(hostId, draining);
  };
  await drain(true);
  await untilPaused(service, 0);
  await drain(false);
}

/** Waits until there are this many sandboxes, all of them paused. */
export async function untilPaused({ sandboxes }: Service, count: number): Promise<void> {
  for (;;) {
    const found = await sandboxes.list();
    if (found.length === count && found.every(({ state }) => state === 'paused')) return;
    await sleep(pollMs);
  }
}

/** Repeats a request once, because the API may close an idle connection as it is sent. */
async function connected<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return request();
  }
}

async function forEach(count: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
}
