import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDocker } from '../../../../systems/docker/open-docker.ts';
import type { Sandboxes } from '../../../../systems/docker/sandboxes.ts';

const deadlineMs = 1_500;
let root: string;
let socket: string;
let server: Server | null;
let clients: Socket[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'engine-'));
  socket = join(root, 'docker.sock');
  server = null;
  clients = [];
});

afterEach(async () => {
  for (const client of clients) client.destroy();
  const running = server;
  if (running !== null) await new Promise((resolve) => running.close(resolve));
  rmSync(root, { recursive: true, force: true });
});

const spec = {
  runId: 'run-1',
  projectId: 'project-1',
  generation: 1,
  image: 'image',
  hostId: 'host-1',
  folders: { workspace: '/w', spool: '/s', config: '/c', socket: '/k' },
  memoryBytes: 1024 ** 3,
  cpus: 1,
  deadline: new Date(),
};

const verbs: Record<string, (sandboxes: Sandboxes) => Promise<unknown>> = {
  ensureCreated: (s) => s.ensureCreated(spec),
  start: (s) => s.start('id'),
  inspect: (s) => s.inspect('id'),
  signal: (s) => s.signal('id', 'SIGTERM'),
  pause: (s) => s.pause('id'),
  unpause: (s) => s.unpause('id'),
  setCpus: (s) => s.setCpus('id', 1),
  remove: (s) => s.remove('id'),
  find: (s) => s.find(spec),
  list: (s) => s.list(),
};

function docker() {
  return openDocker({ dockerHost: `unix://${socket}`, instance: 'test', deadlineMs });
}

function listen(onClient: (client: Socket) => void): Promise<void> {
  const made = createServer((client) => {
    clients.push(client.on('error', () => {}));
    onClient(client);
  });
  server = made;
  return new Promise((resolve) => made.listen(socket, resolve));
}

async function outcome(work: Promise<unknown>) {
  const start = performance.now();
  const code = await work.then(
    () => 'worked',
    (error: { code?: string }) => error.code,
  );
  return { code, inTime: performance.now() - start < 2 * deadlineMs + 5_000 };
}

const everyVerb = (): Promise<[string, unknown][]> =>
  Promise.all(
    Object.entries(verbs).map(
      async ([name, verb]): Promise<[string, unknown]> => [
        name,
        await outcome(verb(docker().sandboxes)),
      ],
    ),
  );

const all = (code: string) => Object.keys(verbs).map((name) => [name, { code, inTime: true }]);

test('every method fails at once while the engine is down', async () => {
  expect(await everyVerb()).toEqual(all('engine_unreachable'));
});

test('no method waits for a frozen engine beyond the deadline', async () => {
  await listen(() => {});
  expect(await everyVerb()).toEqual(all('engine_timeout'));
});

test('times out on an engine that freezes mid-response', async () => {
  await listen((client) => client.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half":'));
  expect(await everyVerb()).toEqual(all('engine_timeout'));
});

test('an engine that dies mid-call is unreachable', async () => {
  await listen((client) => void client.once('data', () => client.destroy()));
  expect(await everyVerb()).toEqual(all('engine_unreachable'));
});

test('the error names the call and keeps its cause', async () => {
  await expect(docker().sandboxes.inspect('abc')).rejects.toMatchObject({
    name: 'DockerError',
    message: expect.stringMatching(/^docker: inspect abc: .*ENOENT/),
    cause: expect.objectContaining({ code: 'ENOENT' }),
  });
});

test('continues watching exits once the engine is back', async () => {
  const hints: unknown[] = [];
  let connections = 0;
  const watch = docker().sandboxes.watchExits({
    onExit: (hint) => hints.push(hint),
    onReconnect: () => (connections += 1),
  });
  const event = { Actor: { ID: 'c1', Attributes: { 'frs.run': 'r1' } } };
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(connections).toBe(0);
  await listen((client) => {
    client.once('data', () => {
      client.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n');
      client.write(JSON.stringify(event).slice(0, 20));
      setTimeout(() => client.end(`${JSON.stringify(event).slice(20)}\n`), 50);
    });
  });
  await expect.poll(() => hints.length).toBeGreaterThanOrEqual(2);
  expect(hints[0]).toEqual({ containerId: 'c1', runId: 'r1' });
  expect(connections).toBeGreaterThanOrEqual(2);
  watch.close();
});

test('rejects a remote engine, because folders are shared with it', () => {
  expect(() => openDocker({ dockerHost: 'tcp://1.2.3.4:2375', instance: 'test' })).toThrow(
    /unix:\/\/\/path/,
  );
});
