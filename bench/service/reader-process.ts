// Readers of one run's stream, in a separate process. They count frames and report when all of them
// have received the expected number. A missing, duplicated or reordered frame ends the process.

import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { endWithParent, readSetting, reportToParent } from '../limits/child.ts';
import { createSseCounter, type SseCounter } from './sse-counter.ts';

export interface CrowdSetting {
  connections: number;
}

export type CrowdCommand =
  /** Opens the connections. The keys are used in turn. */
  | { kind: 'open'; url: string; keys: string[] }
  /** Requests an answer once every reader has received this many frames in total. */
  | { kind: 'expect'; frames: number }
  | { kind: 'leave' };

export interface CrowdAnswer {
  /** CPU time of this process since its previous answer. */
  cpuMs: number;
}

const openAtOnce = 32;

endWithParent();
const { connections } = readSetting() as CrowdSetting; // reader-crowd.ts starts this program
let requests: ClientRequest[] = [];
let counters: SseCounter[] = [];
let targetFrames = Number.POSITIVE_INFINITY;
let ready = 0;
let cpu = process.cpuUsage();

process.on('message', (command: CrowdCommand) => {
  switch (command.kind) {
    case 'open':
      void open(command).then(answer);
      break;
    case 'expect':
      targetFrames = command.frames;
      ready = counters.filter((counter) => counter.count() >= targetFrames).length;
      tellWhenReady();
      break;
    case 'leave':
      leave();
  }
});

/** A few at a time, because opening is not measured and a thousand at once may be refused. */
async function open({ url, keys }: { url: string; keys: string[] }): Promise<void> {
  leave();
  let next = 0;
  const openInTurn = async (): Promise<void> => {
    for (let index = next++; index < connections; index = next++) {
      await openOne(url, keys[index % keys.length] ?? '');
    }
  };
  await Promise.all(Array.from({ length: openAtOnce }, openInTurn));
}

async function openOne(url: string, key: string): Promise<void> {
  const response = await ask(url, key);
  if (response.statusCode !== 200) throw new Error(`no stream: ${response.statusCode}`);
  const counter = createSseCounter();
  counters.push(counter);
  response.on('data', (chunk: Buffer) => {
    const had = counter.count();
    counter.take(chunk);
    if (had >= targetFrames || counter.count() < targetFrames) return;
    ready += 1;
    tellWhenReady();
  });
  response.on('error', () => undefined); // closed by `leave` or by the end of the service
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
  targetFrames = Number.POSITIVE_INFINITY;
  ready = 0;
  answer();
}

function answer(): void {
  const { user, system } = process.cpuUsage(cpu);
  cpu = process.cpuUsage();
  const result: CrowdAnswer = { cpuMs: (user + system) / 1_000 };
  reportToParent(result);
}

function leave(): void {
  for (const request of requests) request.destroy();
  requests = [];
  counters = [];
}
