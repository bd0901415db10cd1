// The largest bodies at once, sent by another process: the memory of the client is not that of the
// API.

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { measureSlowdown } from '../../support/processor-wait.ts';
import { useTenant } from './use-api.ts';

const { api, tenant, call } = useTenant();
const miB = 1024 ** 2;

/** Posts fifty bodies of open brackets, and prints the statuses of their answers. */
const client = `
  const { request } = require('node:http');
  const { once } = require('node:events');
  const { URL: url, KEY: key, BYTES: bytes } = process.env;
  const slice = Buffer.alloc(${miB}, '[');
  async function post() {
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json', 'content-length': bytes };
    const sent = request(url, { method: 'POST', headers });
    const status = new Promise((resolve) => {
      sent.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', () => resolve(0));
    });
    for (let at = 0; at < Number(bytes) && !sent.destroyed; at += slice.length) {
      if (!sent.write(slice)) await Promise.race([once(sent, 'drain'), status]).catch(() => undefined);
    }
    sent.end();
    return status;
  }
  Promise.all(Array.from({ length: 50 }, post)).then((all) => {
    console.log(JSON.stringify(all));
    process.exit();
  });
`;

test('bounds the memory for fifty bodies of 40 MiB, and answers others meanwhile', async () => {
  const before = process.memoryUsage().rss;
  let peak = before;
  const env = {
    URL: `${api.url}/api/v1/flows/${tenant.flowId}/runs`,
    KEY: tenant.key,
    BYTES: String(limits.http.largeBodyMaxBytes),
  };
  const posting = spawn(process.execPath, ['-e', client], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = text(posting.stdout);
  const slowdown = measureSlowdown(process.pid);
  const delays: number[] = [];
  while (posting.exitCode === null) {
    const from = performance.now();
    expect((await call('/api/v1/flows')).status).toBe(200);
    delays.push(performance.now() - from);
    peak = Math.max(peak, process.memoryUsage().rss);
    await sleep(5);
  }
  const statuses = JSON.parse(await printed) as number[];
  expect(statuses).toHaveLength(50);
  expect(statuses.filter((status) => status !== 400 && status !== 503)).toEqual([]);
  expect(statuses).toContain(400);
  expect(peak - before).toBeLessThan(512 * miB);
  expect(Math.max(...delays)).toBeLessThan(2_000 * slowdown());
}, 60_000);
