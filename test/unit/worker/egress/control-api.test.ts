import { expect, test } from 'vitest';
import { callSocket } from '../../../support/socket-client.ts';
import { serveRun } from './egress-fixture.ts';

const config = { args: ['-p'], env: { TOKEN: 'canary' }, files: [] };

test('returns the configuration until it is acknowledged, then never again', async () => {
  let acknowledged = false;
  const { socketPath } = await serveRun({
    handlers: {
      config: () => Promise.resolve(acknowledged ? null : config),
      acknowledge: () => {
        acknowledged = true;
        return Promise.resolve(true);
      },
    },
  });
  const call = () => callSocket(socketPath, { path: '/control/config' });
  expect(JSON.parse((await call()).body)).toEqual(config);
  expect(JSON.parse((await call()).body)).toEqual(config);
  const ack = await callSocket(socketPath, { method: 'POST', path: '/control/config/ack' });
  expect(ack.status).toBe(204);
  expect(await call()).toMatchObject({ status: 410, body: '' });
});

test('a sandbox that was superseded learns it from its acknowledgement', async () => {
  const { socketPath } = await serveRun({ handlers: { acknowledge: async () => false } });
  const ack = await callSocket(socketPath, { method: 'POST', path: '/control/config/ack' });
  expect(ack.status).toBe(410);
});

test('a configuration that cannot be read is a retryable error, not the end', async () => {
  const { socketPath } = await serveRun({
    handlers: { config: () => Promise.reject(new Error('postgres is unavailable')) },
  });
  expect((await callSocket(socketPath, { path: '/control/config' })).status).toBe(500);
});

test('returns a message, the end, or nothing', async () => {
  const requests: number[] = [];
  const { socketPath } = await serveRun({
    handlers: {
      nextMessage: (after) => {
        requests.push(after);
        if (after === 0) return Promise.resolve({ kind: 'message', index: 1, line: '{"a":"ä"}' });
        return Promise.resolve({ kind: after === 1 ? 'none' : 'closed' });
      },
    },
  });
  const call = (query: string) => callSocket(socketPath, { path: `/control/messages${query}` });
  expect(JSON.parse((await call('?after=0')).body)).toEqual({ index: 1, line: '{"a":"ä"}' });
  expect((await call('?after=1')).status).toBe(204);
  expect(JSON.parse((await call('?after=2')).body)).toEqual({ closed: true });
  for (const query of ['', '?after=-1', '?after=1.5', '?after=x', '?after=1e300'])
    await call(query);
  expect(requests).toEqual([0, 1, 2, 0, 0, 0, 0, 1_000_000_000]);
});

test('stops waiting for a message when the client disconnects', async () => {
  let pollSignal: AbortSignal | undefined;
  const { socketPath } = await serveRun({
    handlers: {
      nextMessage: (_after, signal) => {
        pollSignal = signal;
        return new Promise(() => {});
      },
    },
  });
  const client = new AbortController();
  const call = callSocket(socketPath, { path: '/control/messages?after=0', signal: client.signal });
  await expect.poll(() => pollSignal?.aborted).toBe(false);
  client.abort();
  await expect(call).rejects.toThrow();
  await expect.poll(() => pollSignal?.aborted).toBe(true);
});

test('the exit is only a hint, and a long body is rejected', async () => {
  let exits = 0;
  const { socketPath } = await serveRun({ handlers: { exited: () => void (exits += 1) } });
  const report = (body: string) =>
    callSocket(socketPath, { method: 'POST', path: '/control/exit', body });
  expect((await report('{"code":0,"signal":null}')).status).toBe(204);
  expect((await report('x'.repeat(5_000))).status).toBe(500);
  expect(exits).toBe(1);
});
