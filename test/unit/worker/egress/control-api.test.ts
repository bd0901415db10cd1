import { expect, test } from 'vitest';
import { callSocket } from '../../../support/socket-client.ts';
import { serveRun } from './egress-fixture.ts';

const config = { args: ['-p'], env: { TOKEN: 'canary' }, files: [] };

test('answers the configuration until it is acknowledged, then never again', async () => {
  let acknowledged = false;
  const { socketPath } = await serveRun({
    handlers: {
      config: () => Promise.resolve(acknowledged ? null : config),
      acknowledge: () => {
        acknowledged = true;
        return Promise.resolve();
      },
    },
  });
  const ask = () => callSocket(socketPath, { path: '/control/config' });
  expect(JSON.parse((await ask()).body)).toEqual(config);
  expect(JSON.parse((await ask()).body)).toEqual(config);
  const ack = await callSocket(socketPath, { method: 'POST', path: '/control/config/ack' });
  expect(ack.status).toBe(204);
  expect(await ask()).toMatchObject({ status: 410, body: '' });
});

test('a configuration that cannot be read is a failure to be tried again, not an end', async () => {
  const { socketPath } = await serveRun({
    handlers: { config: () => Promise.reject(new Error('postgres is away')) },
  });
  expect((await callSocket(socketPath, { path: '/control/config' })).status).toBe(500);
});

test('hands out a message, the end, or nothing', async () => {
  const asked: number[] = [];
  const { socketPath } = await serveRun({
    handlers: {
      nextMessage: (after) => {
        asked.push(after);
        if (after === 0) return Promise.resolve({ kind: 'message', index: 1, line: '{"a":"ä"}' });
        return Promise.resolve({ kind: after === 1 ? 'none' : 'closed' });
      },
    },
  });
  const ask = (query: string) => callSocket(socketPath, { path: `/control/messages${query}` });
  expect(JSON.parse((await ask('?after=0')).body)).toEqual({ index: 1, line: '{"a":"ä"}' });
  expect((await ask('?after=1')).status).toBe(204);
  expect(JSON.parse((await ask('?after=2')).body)).toEqual({ closed: true });
  for (const query of ['', '?after=-1', '?after=1.5', '?after=x', '?after=1e300']) await ask(query);
  expect(asked).toEqual([0, 1, 2, 0, 0, 0, 0, 1_000_000_000]);
});

test('whoever stops waiting for a message is no longer waited for', async () => {
  let given: AbortSignal | undefined;
  const { socketPath } = await serveRun({
    handlers: {
      nextMessage: (_after, signal) => {
        given = signal;
        return new Promise(() => {});
      },
    },
  });
  const leave = new AbortController();
  const call = callSocket(socketPath, { path: '/control/messages?after=0', signal: leave.signal });
  await expect.poll(() => given?.aborted).toBe(false);
  leave.abort();
  await expect(call).rejects.toThrow();
  await expect.poll(() => given?.aborted).toBe(true);
});

test('the exit is a hint, and a long body is refused', async () => {
  let exits = 0;
  const { socketPath } = await serveRun({ handlers: { exited: () => void (exits += 1) } });
  const tell = (body: string) =>
    callSocket(socketPath, { method: 'POST', path: '/control/exit', body });
  expect((await tell('{"code":0,"signal":null}')).status).toBe(204);
  expect((await tell('x'.repeat(5_000))).status).toBe(500);
  expect(exits).toBe(1);
});
