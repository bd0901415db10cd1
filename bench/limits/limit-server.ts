// The program behind the limits that have no agent. It uses none of the service's code: a web
// framework, a Postgres client and a Redis client.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
import pg from 'pg';
import { machineMs } from '../../test/fixtures/scripted-agent/machine-clock.ts';
import { endWithParent, readSetting, reportToParent } from './child.ts';

export interface LimitSetting {
  databaseUrl: string;
  redisUrl: string;
  /** The socket that `deliver` writes to. */
  socketPath: string;
  /** The channel that `publish` publishes to. */
  frameChannel: string;
  publishesAtStart: boolean;
}

export type LimitCommand =
  /** Commits one row and publishes a message with the time at which it began. */
  | { kind: 'publish' }
  /** Commits one row and posts that time over a new TLS connection. */
  | { kind: 'post'; url: string; caFile: string }
  /** Writes bytes to every reader of `/stream`. */
  | { kind: 'broadcast'; bytes: Buffer };

const deliveryChannel = 'bench:delivery';
const readers = new Set<ServerResponse>();
const framePadding = 'x'.repeat(300);

endWithParent();
const setting = readSetting() as LimitSetting; // limits.ts starts this program
const pool = new pg.Pool({ connectionString: setting.databaseUrl, max: 20 });
const redis = new Redis(setting.redisUrl);
const subscriber = new Redis(setting.redisUrl);
const input = connect(setting.socketPath);
await pool.query(`create table if not exists bench_rows
  (id uuid primary key, text text not null, at timestamptz not null default now(), claimed_at timestamptz)`);
await subscriber.subscribe(deliveryChannel);

const app = Fastify();

/** One INSERT, which is one commit. */
app.post('/insert', async ({ body }, reply) => {
  const id = await insert(JSON.stringify(body));
  return reply.code(201).send({ data: { id } });
});

/** A commit and PUBLISH; then, for the notified consumer, a second commit and a socket write. */
app.post('/deliver', async ({ body }, reply) => {
  const id = await insert(JSON.stringify(body));
  await redis.publish(deliveryChannel, id);
  return reply.code(202).send({ data: { id } });
});

subscriber.on('message', (_channel, id) => void claim(id));
process.on('message', (command: LimitCommand) => {
  switch (command.kind) {
    case 'publish':
      return void publishFrame();
    case 'post':
      return void postOutcome(command);
    case 'broadcast':
      for (const reader of readers) reader.write(command.bytes);
  }
});

const url = await app.listen({ host: '127.0.0.1', port: 0 });
if (setting.publishesAtStart) await publishFrame();
reportToParent({ url, streamUrl: await listenForReaders() });

/** A plain server, without a framework. */
async function listenForReaders(): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    readers.add(response);
    response.on('close', () => readers.delete(response));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  return `http://127.0.0.1:${port}/stream`;
}

async function insert(text: string): Promise<string> {
  const id = randomUUID();
  await pool.query({
    name: 'insert',
    text: 'insert into bench_rows (id, text) values ($1, $2)',
    values: [id, text],
  });
  return id;
}

async function claim(id: string): Promise<void> {
  const { rows } = await pool.query<{ text: string }>({
    name: 'claim',
    text: 'update bench_rows set claimed_at = now() where id = $1 returning text',
    values: [id],
  });
  input.write(`${rows[0]?.text ?? ''}\n`);
}

async function publishFrame(): Promise<void> {
  const beganAt = machineMs();
  await insert(framePadding);
  await redis.publish(setting.frameChannel, JSON.stringify({ beganAt, padding: framePadding }));
}

async function postOutcome({ url: to, caFile }: { url: string; caFile: string }): Promise<void> {
  const beganAt = machineMs();
  await insert(framePadding);
  const options = { method: 'POST', agent: false, ca: readFileSync(caFile) };
  const outgoing = request(to, options, (response) => response.resume());
  outgoing.end(JSON.stringify({ beganAt, padding: framePadding }));
}
