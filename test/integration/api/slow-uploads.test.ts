import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { limits } from '../../../core/limits.ts';
import { useTenant } from './use-api.ts';

const { api, tenant, fixture } = useTenant();

test('rejects bodies that stall, of a known and of an unknown length, and headers', async () => {
  const before = fixture.asked.started.length;
  const { bodyPace, headersTimeoutMs } = limits.http;
  const stalled: [rest: string, timeoutMs: number][] = [
    ['content-length: 100\r\n\r\n{"prompt":', bodyPace.stallMs],
    ['transfer-encoding: chunked\r\n\r\na\r\n{"prompt":', bodyPace.stallMs],
    ['content-length: 2\r\n', headersTimeoutMs],
  ];
  const answers = await Promise.all(
    stalled.map(async ([rest, timeoutMs]) => {
      const began = performance.now();
      const answer = await stall(rest);
      expect(performance.now() - began).toBeGreaterThan(timeoutMs - 1_000);
      return answer;
    }),
  );
  for (const answer of answers) {
    expect(answer).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({
      error: { code: 'VALIDATION_ERROR', message: 'The request was not received in time.' },
    });
  }
  const lines = () => api.log().match(/"code":"VALIDATION_ERROR".*"msg":"request"/g) ?? [];
  await expect.poll(lines).toHaveLength(answers.length);
  expect(api.log()).not.toMatch(/request_failed|dependency_error/);
  expect(fixture.asked.started).toHaveLength(before);
}, 30_000);

/** The answer to a request without the rest of its body. */
function stall(rest: string): Promise<string> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const head = `POST /api/v1/flows/${tenant.flowId}/runs HTTP/1.1\r\nhost: a\r\n`;
  const headers = `authorization: Bearer ${tenant.key}\r\ncontent-type: application/json\r\n`;
  socket.write(`${head}${headers}${rest}`);
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (part) => (text += String(part)));
    socket.on('close', () => resolve(text)).on('error', reject);
  });
}
