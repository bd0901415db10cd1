import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { script } from '../support/prompts.ts';
import type { SentEvent } from '../support/sent-events.ts';
import { type Service, startService } from '../support/service.ts';
import { collect } from '../support/stream-story.ts';

interface Entry {
  seq: number;
  timestamp: string;
  event: string;
  data: unknown;
}
interface EntriesPage {
  entries: Entry[];
  nextSeq: number | null;
  complete: boolean;
}
interface TextPage {
  content: string;
  fromSeq: number | null;
  toSeq: number | null;
  complete: boolean;
}

let service: Service;
beforeAll(async () => {
  service = await startService();
}, 240_000);
afterAll(() => service?.stop());

const lines = 1_500;
const steps = [
  { lines, seed: 5, longEvery: 40 },
  { say: 'half of it' },
  { waitForFile: 'go-on' },
  { repeat: 300, steps: [{ say: 'step {{n}}' }, { sleepMs: 2 }] },
  { shell: 'echo the end' },
];

async function page<T>(runId: string, query: string): Promise<T> {
  const { status, data } = await service.call<T>('GET', `/runs/${runId}/logs?${query}`);
  expect(status).toBe(200);
  return data;
}

/** Every entry of all pages. */
async function pageThrough(runId: string, query: string, order: 'asc' | 'desc'): Promise<Entry[]> {
  const all: Entry[] = [];
  const cursor = order === 'asc' ? 'afterSeq' : 'beforeSeq';
  for (let from = ''; ; ) {
    const whole = `format=structured&order=${order}&${query}${from}`;
    const { entries, nextSeq, complete } = await page<EntriesPage>(runId, whole);
    all.push(...entries);
    if (complete || entries.length === 0) return all;
    expect(nextSeq).toBe(entries.at(-1)?.seq);
    from = `&${cursor}=${nextSeq}`;
  }
}

/** Polls a running run as a client does, until the answer says that nothing can follow. */
async function pollText(runId: string): Promise<string> {
  for (let text = '', after = 0; ; ) {
    const slice = await page<TextPage>(runId, `limit=100&afterSeq=${after}`);
    text += slice.content;
    after = slice.toSeq ?? after;
    if (slice.complete) return text;
  }
}

async function pollEntries(runId: string): Promise<Entry[]> {
  const all: Entry[] = [];
  for (let after = 0; ; ) {
    const query = `format=structured&channel=all&limit=200&afterSeq=${after}`;
    const { entries, nextSeq, complete } = await page<EntriesPage>(runId, query);
    all.push(...entries);
    after = nextSeq ?? after;
    if (complete) return all;
  }
}

const unseen = ['status', 'filetree', 'finished'];
const asEntries = (events: SentEvent[]) =>
  events
    .filter(({ id, event }) => id !== undefined && !unseen.includes(event))
    .map(({ id, event, data }) => ({ seq: Number(id), event, data: JSON.parse(data) as unknown }));
const withoutTime = (entries: Entry[]) =>
  entries.map(({ seq, event, data }) => ({ seq, event, data }));
const chatEvents = ['system', 'assistant', 'user', 'result', 'stream'];

describe('the log of a run', { timeout: 180_000 }, () => {
  it('has the events of the stream, in pages of both orders, during the run and after it', async () => {
    const { runId } = await service.trigger({ prompt: script(steps) });
    const streaming = collect(service.stream(runId));
    const polling = Promise.all([pollText(runId), pollEntries(runId)]);
    const last = async (): Promise<string> =>
      (await page<TextPage>(runId, 'order=desc&limit=1')).content;
    await expect.poll(last, { timeout: 60_000, interval: 200 }).toBe('half of it\n');

    const forwards = await pageThrough(runId, 'channel=all&limit=1000', 'asc');
    const backwards = await pageThrough(runId, 'channel=all&limit=333', 'desc');
    expect(backwards.toReversed()).toEqual(forwards);
    expect(forwards.map(({ seq }) => seq)).toEqual(forwards.map((_, index) => index + 1));
    const { complete } = await page<EntriesPage>(runId, 'format=structured&order=desc&limit=1000');
    expect(complete).toBe(false);

    const { workspace } = foldersOf(service.dataDir, { runId, generation: 1 });
    writeFileSync(join(workspace, 'go-on'), '');
    const events = await streaming;
    const streamed = asEntries(events);
    const [text, polled] = await polling;
    const whole = await pageThrough(runId, 'channel=all&limit=1000', 'asc');
    expect(whole.slice(0, forwards.length)).toEqual(forwards);
    expect(polled).toEqual(whole);
    const firstStreamed = streamed[0]?.seq ?? 0;
    expect(withoutTime(whole).filter(({ seq }) => seq >= firstStreamed)).toEqual(streamed);
    const times = whole.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted());
    await expectChannels(runId, { whole, text });
  });

  async function expectChannels(
    runId: string,
    { whole, text }: { whole: Entry[]; text: string },
  ): Promise<void> {
    const output = await pageThrough(runId, 'channel=output&limit=1000', 'asc');
    expect(output).toEqual(whole.filter(({ event }) => event === 'output'));
    const chat = await pageThrough(runId, 'channel=chat&limit=1000', 'desc');
    expect(chat.toReversed()).toEqual(whole.filter(({ event }) => chatEvents.includes(event)));
    expect(text).toBe(output.map(({ data }) => (data as { data: string }).data).join(''));
    const tail = await page<TextPage>(runId, 'order=desc&limit=3');
    expect(text.endsWith(tail.content)).toBe(true);
    expect(tail.toSeq).toBe(output.at(-1)?.seq);
    expect(tail.fromSeq).toBe(output.at(-3)?.seq);
  }

  it('has the agent’s questions in the conversation', async () => {
    const questions = [{ question: 'Which?', header: 'H', multiSelect: false, options: [] }];
    const { runId } = await service.trigger({ prompt: script([{ ask: { questions } }]) });
    const isWaiting = async (): Promise<string | null> =>
      (await service.readRun(runId)).agentStatus;
    await expect.poll(isWaiting, { timeout: 60_000 }).toBe('waiting');
    await service.call('POST', `/runs/${runId}/stop`, { body: {} });
    await service.untilEnded(runId);
    const chat = await pageThrough(runId, 'channel=chat', 'asc');
    const about = chat.filter(({ event }) => event.startsWith('interaction'));
    expect(about.map(({ event }) => event)).toEqual(['interaction', 'interaction_closed']);
  });

  it('rejects invalid cursors, and is empty beyond its end', async () => {
    const { runId } = await service.trigger({ prompt: script([{ say: 'short' }]) });
    await service.untilEnded(runId);
    const bad = ['-1', '1.5', '1e3', 'abc', '', ' 1', '9999999999999999'];
    for (const cursor of bad) {
      for (const name of ['afterSeq', 'beforeSeq', 'afterSeq=1&afterSeq']) {
        const answer = await service.call('GET', `/runs/${runId}/logs?${name}=${cursor}`);
        expect(answer, `${name}=${cursor}`).toMatchObject({
          status: 400,
          body: { error: { code: 'VALIDATION_ERROR' } },
        });
      }
    }
    const beyond = 'format=structured&channel=all&afterSeq=999999999999999';
    expect(await page(runId, beyond)).toMatchObject({ entries: [], complete: true });
    const before = 'format=structured&channel=all&order=desc&beforeSeq=1';
    expect(await page(runId, before)).toMatchObject({ entries: [], complete: true });
    const text = await page<TextPage>(runId, 'afterSeq=999999999999999');
    expect(text).toMatchObject({ content: '', fromSeq: null, complete: true });
  });

  it('is deleted with its run', async () => {
    const { runId } = await service.trigger({ prompt: script([{ say: 'short' }]) });
    await service.untilEnded(runId);
    await service.call('DELETE', `/runs/${runId}`);
    expect(await service.call('GET', `/runs/${runId}/logs`)).toMatchObject({ status: 404 });
  });
});
