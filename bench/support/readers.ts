// Readers of one run's stream, in a process of their own: they count what they get and say when all of
// them have it. A frame that is missing, doubled or out of order ends the process.

import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { endWithParent, readSetting, reportToParent } from './child.ts';
import { createSseCounter, type SseCounter } from './sse-counter.ts';

export interface ReadersSetting {
  connections: number;
}

export type ReadersCommand =
  /** Opens the connections; each takes the next of the keys in turn. */
  | { kind: 'open'; url: string; keys: string[] }
  /** Asks to be told when every reader has so many frames in all. */
  | { kind: 'expect'; frames: number }
  | { kind: 'leave' };

export interface ReadersAnswer {
  /** On the clock of the whole machine. */
  atMs: number;
  /** Processor time of this process since its last answer. */
  cpuMs: number;
}

endWithParent();
const { connections } = readSetting() as ReadersSetting; // openReaders starts this program
let requests: ClientRequest[] = [];
let counters: SseCounter[] = [];
let wanted = Number.POSITIVE_INFINITY;
let ready = 0;
let cpu = process.cpuUsage();

process.on('message', (order: ReadersCommand) => {
  switch (order.kind) {
    case 'open':
      void open(order).then(answer);
      break;
    case 'expect':
      wanted = order.frames;
      ready = counters.filter((counter) => counter.count() >= wanted).length;
      tellWhenReady();
      break;
    case 'leave':
      leave();
  }
});

async function open({ url, keys }: { url: string; keys: string[] }): Promise<void> {
  leave();
  const opened = Array.from({ length: connections }, (_, index) =>
    openOne(url, keys[index % keys.length] ?? ''),
  );
  await Promise.all(opened);
}

async function openOne(url: string, key: string): Promise<void> {
  const response = await ask(url, key);
  if (response.statusCode !== 200) throw new Error(`no stream: ${response.statusCode}`);
  const counter = createSseCounter();
  counters.push(counter);
  response.on('data', (chunk: Buffer) => {
    const had = counter.count();
    counter.take(chunk);
    if (had >= wanted || counter.count() < wanted) return;
    ready += 1;
    tellWhenReady();
  });
  response.on('error', () => undefined); // cut off by `leave`, or by the end of the service
}

function ask(url: string, key: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    const request = get(url, { headers, agent: false }, resolve);
    request.on('error', reject);
    requests.push(request);
  });
}

function tellWhenReady(): void {
  if (ready < connections) return;
  wanted = Number.POSITIVE_INFINITY;
  ready = 0;
  answer();
}

function answer(): void {
  const { user, system } = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  const told: ReadersAnswer = { atMs: Date.now(), cpuMs: (user + system) / 1_000 };
  reportToParent(told);
}

function leave(): void {
  for (const request of requests) request.destroy();
  requests = [];
  counters = [];
}
