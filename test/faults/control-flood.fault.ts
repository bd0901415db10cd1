// A sandbox that opens all connections to its worker, asks on each for the longest message, and
// reads nothing.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../core/limits.ts';
import { freePort } from '../../dev/stack/ports.ts';
import { createApiClient } from '../support/api-client.ts';
import { scrape, valueOf } from '../support/metrics.ts';
import { measureSlowdown } from '../support/processor-wait.ts';
import { script } from '../support/prompts.ts';
import { createTenant, type Service, startService } from '../support/service.ts';

const miB = 1024 ** 2;
/** Unbounded, the answers would be 1.75 GiB. */
const growthMaxBytes = 128 * miB;
/** The agent says a line every 500 ms. */
const frameDelayMaxMs = 1_000;
const lineCount = 40;

let service: Service;
let metricsPort: number;

beforeAll(async () => {
  service = await startService();
  metricsPort = await freePort();
  await service.worker.kill('SIGTERM');
  await service.worker.start({ METRICS_PORT: String(metricsPort) });
});
afterAll(() => service?.stop());

/** In the sandbox: says how many connections were opened, and keeps them for 15 s. */
const flood = `
const { connect } = require("node:net");
let opened = 0;
for (let n = 0; n < ${limits.control.connectionsMax}; n += 1) {
  const socket = connect("/run/egress/x", () => { opened += 1; }).pause().on("error", () => undefined);
  socket.write("GET /control/messages?after=0 HTTP/1.1\\r\\nhost: a\\r\\n\\r\\n");
}
setTimeout(() => { console.log("opened " + opened); process.exit(); }, 15000);
`;

/** The longest prompt: its padding of control characters is escaped twice in each answer. */
function floodPrompt(): string {
  const steps = script([{ shell: `node -e '${flood}'` }, { say: 'Done' }]);
  return `${steps}\n`.padEnd(limits.text.promptMaxBytes, '\u0001');
}

function memoryBytes(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${service.worker.pid()}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
}

it('costs the worker the memory of a few answers, and delays no frame of another project', async () => {
  const { database, encryptionKey, url } = service;
  const other = createApiClient({ url, ...(await createTenant(database, encryptionKey)) });
  const steps = Array.from({ length: lineCount }, (_, n) => [
    { say: `line ${n}` },
    { sleepMs: 500 },
  ]);
  const quiet = await other.trigger({ prompt: script(steps.flat()) });
  const times: number[] = [];
  const reading = (async () => {
    for await (const { event } of other.stream(quiet.runId)) {
      if (event === 'assistant') times.push(performance.now());
    }
  })();
  await expect.poll(() => times.length).toBeGreaterThan(2);

  const slowdown = measureSlowdown(service.worker.pid());
  const before = memoryBytes('VmRSS');
  const flooding = await service.trigger({ prompt: floodPrompt() });
  const ended = await service.untilEnded(flooding.runId, 60_000);
  expect(ended.error).toBeUndefined();
  await reading;
  const pauses = times.slice(1).map((at, n) => at - (times[n] ?? at));
  const growth = memoryBytes('VmHWM') - before;
  const samples = await scrape(metricsPort);
  const refused = ['rate', 'concurrency', 'unread'].map((reason) =>
    valueOf(samples, `flowrun_control_requests_refused_total{reason="${reason}"}`),
  );
  const factor = slowdown();
  console.info({ growthMiB: growth / miB, slowest: Math.max(...pauses), factor, refused });
  expect(times).toHaveLength(lineCount);
  expect(Math.max(...pauses)).toBeLessThan(frameDelayMaxMs * factor);
  expect(growth).toBeLessThan(growthMaxBytes);
  const refusals = refused.reduce((sum: number, count) => sum + (count ?? 0), 0);
  expect(refusals).toBeGreaterThan(100);
});
