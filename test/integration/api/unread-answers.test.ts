import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { caller } from './call.ts';
import { output, triggerRun } from './log-writer.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();

test('disconnects clients that read nothing of a large answer, and answers others meanwhile', async () => {
  const log = await triggerRun(fixture, { url: api.url, ...tenant });
  const frames = 4;
  const frame = output('x'.repeat(limits.page.logMaxBytes / frames));
  for (let n = 0; n < frames; n += 1) await log.write([frame]);
  const path = `/api/v1/runs/${log.runId}/logs?format=structured&channel=all`;
  api.app.server.closeIdleConnections();
  const closed = Array.from({ length: 10 }, () => askWithoutReading(path));
  // A connection whose request was not read yet is idle too, so none is closed here.
  await expect.poll(countSockets).toBeGreaterThanOrEqual(closed.length);
  const { projectId } = tenant;
  const other = { projectId, name: 'other', createdBy: 'ana', rateLimitRpm: 60 };
  const { key } = await fixture.stores.keys.create(other);
  const whole = await caller(api, key)(path);
  expect(whole.json.data.entries).toHaveLength(frames);
  expect(whole.headers.get('content-length')).toBe(String(Buffer.byteLength(whole.text)));
  await expect.poll(openSockets, { timeout: 3 * limits.http.stallMs }).toBe(0);
  expect(api.log()).not.toMatch(/request_failed|request_hook_failed/);
}, 60_000);

function askWithoutReading(path: string): void {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1').pause();
  onTestFinished(() => void socket.destroy());
  const key = `authorization: Bearer ${tenant.key}\r\n`;
  socket.on('error', () => undefined).write(`GET ${path} HTTP/1.1\r\nhost: a\r\n${key}\r\n`);
}

/** Connections, without the keep-alive ones. */
function openSockets(): Promise<number> {
  api.app.server.closeIdleConnections();
  return countSockets();
}

function countSockets(): Promise<number> {
  return new Promise((resolve, reject) => {
    api.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}
