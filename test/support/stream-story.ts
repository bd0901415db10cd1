import { expect } from 'vitest';
import { scriptForBoth } from './prompts.ts';
import type { SentEvent } from './sent-events.ts';
import type { Service } from './service.ts';

export const story = {
  greeting: 'I will write it down.',
  file: 'notes/hello.txt',
  content: 'Grüße, 世界 🌍\n',
  farewell: 'It is written.',
} as const;

/** A message that both agents understand: the scripted one reads its steps, the model its own. */
export function storyPrompt(): string {
  const { greeting, file, content, farewell } = story;
  const path = `/workspace/${file}`;
  const agent = [
    { callModel: 'Hello.' },
    { say: greeting },
    { write: { path, content } },
    { say: farewell },
  ];
  const model = [
    { text: greeting },
    { tool: 'Write', input: { file_path: path, content } },
    { text: farewell },
  ];
  return scriptForBoth(agent, model);
}

/** Checks on one run what clients can rely on with any agent. */
export async function expectStreamStory(service: Service, runId: string): Promise<void> {
  const events = await collect(service.stream(runId));
  expectOrder(events);
  expectIds(events);
  expectContent(events);
  await expectResumes(service, runId, events);
  await expectLogs(service, runId, events);
}

export async function collect(stream: AsyncIterable<SentEvent>): Promise<SentEvent[]> {
  const events: SentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const numbered = (events: SentEvent[]): SentEvent[] => events.filter(({ id }) => id !== undefined);
const parsed = (event: SentEvent | undefined): Record<string, unknown> =>
  JSON.parse(event?.data ?? '{}') as Record<string, unknown>; // every payload is an object here

function expectOrder(events: SentEvent[]): void {
  expect(events[0]).toMatchObject({ event: 'status', id: undefined });
  expect(events.at(-1)?.event).toBe('finished');
  expect(events.filter(({ event }) => event === 'finished')).toHaveLength(1);
  const types = events
    .map(({ event }) => event)
    .filter((event) => ['system', 'assistant', 'user', 'result'].includes(event));
  const firstOf = (event: string): number => types.indexOf(event);
  expect(firstOf('system')).toBe(0);
  expect(firstOf('assistant')).toBeLessThan(types.lastIndexOf('user'));
  expect(types.lastIndexOf('user')).toBeLessThan(types.lastIndexOf('assistant'));
  expect(types.at(-1)).toBe('result');
}

/** Frames of the agent have consecutive numbers. Events that are not replayed have none. */
function expectIds(events: SentEvent[]): void {
  const ids = numbered(events).map(({ id }) => Number(id));
  expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index));
  const bare = events.filter(({ id }) => id === undefined).map(({ event }) => event);
  const unnumbered = ['status', 'filetree', 'output', 'stream_event'];
  expect(bare.filter((event) => !unnumbered.includes(event))).toEqual([]);
}

function expectContent(events: SentEvent[]): void {
  const rendered = events
    .filter(({ event }) => event === 'output')
    .map((event) => parsed(event)['data'])
    .join('');
  expect(rendered).toContain(story.greeting);
  expect(rendered).toContain(story.farewell);
  const statuses = events.filter(({ event }) => event === 'agent_status').map(parsed);
  expect(statuses.map(({ status }) => status).slice(-2)).toEqual(['working', 'idle']);
  const result = parsed(events.find(({ event }) => event === 'result'));
  expect(result).toMatchObject({ is_error: false, result: story.farewell });
  expect(result['total_cost_usd']).toBeTypeOf('number');
  const toolUse = events.find(
    ({ event, data }) => event === 'assistant' && /"tool_use"/.test(data),
  );
  expect(toolUse?.data).toContain(story.file);
  expect(parsed(events.at(-1))).toMatchObject({ reason: 'completed', exitCode: 0 });
}

/** A reader that resumes after any frame gets the rest, without losses or duplicates. */
async function expectResumes(service: Service, runId: string, events: SentEvent[]): Promise<void> {
  const all = numbered(events).filter(({ event }) => event !== 'finished');
  const middle = all[Math.floor(all.length / 2)];
  const resumed = numbered(await collect(service.stream(runId, middle?.id)));
  const rest = resumed.filter(({ event }) => event !== 'finished');
  expect(rest).toEqual(all.slice(Math.floor(all.length / 2) + 1));
}

interface LogPage {
  entries: { seq: number; event: string; data: unknown }[];
}

/** The log contains the same agent events as the stream, with the same numbers. */
async function expectLogs(service: Service, runId: string, events: SentEvent[]): Promise<void> {
  const path = `/runs/${runId}/logs?format=structured&channel=all&limit=1000`;
  const page = await service.call<LogPage>('GET', path);
  const logged = page.data.entries.map(({ seq, ...entry }) => ({ id: String(seq), ...entry }));
  const received = numbered(events).filter(({ event }) => event !== 'finished');
  const streamed = received.map((event) => ({ ...event, data: JSON.parse(event.data) as unknown }));
  const first = Number(streamed[0]?.id ?? 0);
  const expected = logged.filter(({ id }) => Number(id) >= first);
  expect(expected.map(({ id, event, data }) => ({ id, event, data }))).toEqual(streamed);
}

export const payload = ({ data }: SentEvent): Record<string, unknown> =>
  JSON.parse(data) as Record<string, unknown>; // every payload is an object

/** The agent's statuses on the stream, without the initial idle. */
export function statusesOf(events: SentEvent[]): unknown[] {
  const statuses = events
    .filter(({ event }) => event === 'agent_status')
    .map((one) => payload(one)['status']);
  return statuses[0] === 'idle' ? statuses.slice(1) : statuses; // the reader may have connected before the agent started
}
