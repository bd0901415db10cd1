import { beforeAll, expect, test } from 'vitest';
import type { ApiProcess } from '../../support/api-fixture.ts';
import { asEvents, openStream, type SeenEvent } from '../../support/sse-client.ts';
import { assistant, type LogWriter, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();
/** Its memory for the latest frames of all runs has those of one run. */
let small: ApiProcess;

const batch = () => Array.from({ length: 80 }, (_, n) => assistant(`${n} `.repeat(10_000)));

beforeAll(async () => {
  small = await fixture.start({ feedTotalBytes: 7.5 * 1024 ** 2 });
});

const newRun = () => triggerRun(fixture, { url: api.url, ...tenant });
const watch = (log: LogWriter, lastEventId = '0') =>
  openStream(`${small.url}/api/v1/runs/${log.runId}/stream`, { key: tenant.key, lastEventId });

/** All frames of an ended run, also if its reader was disconnected before it resumed. */
async function rest({ client, log }: { client: SeenClient; log: LogWriter }): Promise<SeenEvent[]> {
  client.resume();
  await client.closed;
  if (client.names().at(-1) === 'finished') return framesOf(client.events);
  const resumed = await watch(log, framesOf(client.events).at(-1)?.id);
  await resumed.closed;
  return framesOf([...client.events, ...resumed.events]);
}

type SeenClient = Awaited<ReturnType<typeof watch>>;

const framesOf = (events: SeenEvent[]) => events.filter(({ event }) => event === 'assistant');

test('readers whose buffered frames were evicted for another run see each frame once, in order', async () => {
  const [slow, other] = [await newRun(), await newRun()];
  const readers = [
    { log: slow, client: await watch(slow) },
    { log: slow, client: await watch(slow) },
    { log: other, client: await watch(other) },
  ];
  const [unread] = readers;
  unread?.client.pause();
  for (let n = 0; n < 3; n += 1) await slow.write(batch());
  await other.write(batch());
  await readers[2]?.client.until((events) => framesOf(events).length === other.stored.length);
  await slow.write([assistant('the last one')]);
  await Promise.all([slow, other].map((log) => log.end()));
  for (const reader of readers) expect(await rest(reader)).toEqual(asEvents(reader.log.stored));
});
