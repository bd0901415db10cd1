// The effects of lines in `.env`, on a clone in which nothing else was edited: https in front of
// the service, and the runtime of its sandboxes. Each test continues where the one before it ended.

import { randomBytes, randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SentEvent } from '../support/sent-events.ts';
import {
  type Access,
  asCloned,
  compose,
  docker,
  loseEverything,
  makeAccess,
  parts,
  sandboxes,
  set,
  slowly,
  until,
  untilReady,
  url,
} from './compose.ts';
import { createSecureClient, type SecureClient } from './secure-client.ts';

const domain = 'https://localhost';
const knownKey = `frs_${randomBytes(32).toString('hex').slice(0, 43)}`;
const initial = {
  INIT_PROJECT: 'office',
  INIT_FLOW: `'{"name": "writer", "prompt": "Write hello.md"}'`,
  INIT_API_KEY: knownKey,
  INIT_OPERATOR: 'ana',
};
const behindCaddy = { FLOWRUN_DOMAIN: 'localhost', PUBLIC_URL: domain };
const withTls = (...args: string[]): Promise<string> => compose('--profile', 'tls', ...args);

let access: Access;
let secure: SecureClient;

beforeAll(async () => {
  asCloned();
  set({ ...behindCaddy, ...initial });
  await withTls('up', '-d');
  await untilReady();
  const root = '/data/caddy/pki/authorities/local/root.crt';
  await until('Caddy has made its certificates', async () => {
    const ca = await withTls('exec', '-T', 'caddy', 'cat', root);
    secure = createSecureClient(domain, ca);
    return (await secure.fetch('/healthz')).ok;
  });
  access = await makeAccess(`acme-${randomBytes(3).toString('hex')}`);
});
afterAll(async () => {
  await loseEverything();
  asCloned();
});

test('the images add no more to that of Node than docs/operate.md says', async () => {
  const base = await megabytesOf('node:24-bookworm-slim');
  for (const [image, largest] of Object.entries({ flowrun: 150, 'flowrun-sandbox': 750 })) {
    const added = (await megabytesOf(`${image}:local`)) - base;
    process.stdout.write(`${image} adds ${Math.round(added)} MB\n`);
    expect(added, image).toBeLessThan(largest);
  }
});

/** The unpacked size: some engines also count downloads in the size that they report. */
async function megabytesOf(image: string): Promise<number> {
  const alone = ['run', '--rm', '--network', 'none', '--user', '0:0', '--entrypoint', 'du'];
  return Number.parseInt(await docker(...alone, image, '-sxB', '1000000', '/'), 10);
}

test('a key known beforehand runs the first flow, without a command', async () => {
  const authorization = { authorization: `Bearer ${knownKey}` };
  const listed = await secure.fetch('/api/v1/flows', { headers: authorization });
  const { data: flows } = (await listed.json()) as { data: { flowId: string; name: string }[] };
  expect(flows).toMatchObject([{ name: 'writer' }]);
  const headers = { ...authorization, 'content-type': 'application/json' };
  const runs = `/api/v1/flows/${flows[0]?.flowId}/runs`;
  const started = await secure.fetch(runs, { method: 'POST', headers, body: '{}' });
  expect(started.status).toBe(201);
  expect(await compose('logs', 'migrate')).not.toContain(knownKey);
});

test('https answers with a certificate for the name, and http leads there', async () => {
  const answer = await secure.fetch('/healthz');
  expect(answer.status).toBe(200);
  // Its ports on that network are not published.
  expect(answer.headers.get('alt-svc')).toBeNull();
  const plain = await fetch('http://localhost/healthz', { redirect: 'manual' });
  expect(plain.status).toBe(308);
  expect(plain.headers.get('location')).toBe(`${domain}/healthz`);
});

test('the first operator signs in through it, with a cookie for https only', async () => {
  const log = await compose('logs', 'api');
  const [, code] = /"link":"https:\/\/localhost\/sign-in#([^"]+)"/.exec(log) ?? [];
  const signedIn = await secure.fetch('/api/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: domain },
    body: JSON.stringify({ code }),
  });
  expect(signedIn.status).toBe(200);
  const [cookie = '', ...attributes] = (signedIn.headers.get('set-cookie') ?? '').split('; ');
  expect(attributes).toContain('Secure');
  expect((await secure.fetch('/api/me', { headers: { cookie } })).status).toBe(200);
});

// After the sign-in: it recreates containers, and the log of the first API holds the link.
test('with a model key, up --wait succeeds too, and the offline model idles', async () => {
  set({ ...behindCaddy, ANTHROPIC_API_KEY: 'sk-not-a-real-key' });
  await withTls('up', '-d', '--wait');
  expect((await parts()).model).toMatchObject({ State: 'running', Health: 'healthy' });
  const answer = 'fetch(`http://model:8090/`).then(() => 1, () => 0).then(process.exit)';
  await compose('exec', '-T', 'api', 'node', '-e', answer);
});

/** Without it no model answers from here on, because a host with a key was seen. */
const offline = { OFFLINE_MODEL: 'yes' };

test('without the key again, the offline model answers only on request', async () => {
  set(behindCaddy);
  await withTls('up', '-d', '--wait');
  await until('the host has no model', async () => !(await host()).offersModel);
  set({ ...behindCaddy, ...offline });
  await withTls('up', '-d', '--wait');
  expect((await parts()).model).toMatchObject({ State: 'running', Health: 'healthy' });
  await until('the offline model answers', async () => (await host()).offersModel);
});

test('a stream arrives through it as it is written, over HTTP/2 like in browsers', async () => {
  const { runId, streamUrl } = await access.trigger({ prompt: slowly(6, 'streamed.md') });
  expect(streamUrl).toBe(`${domain}/api/v1/runs/${runId}/stream`);
  const [direct, through] = await Promise.all([
    arrivals(access.stream(runId)),
    arrivals(secure.stream(new URL(streamUrl).pathname, access.key)),
  ]);
  expect([...through.keys()]).toEqual([...direct.keys()]);
  const late = [...through].map(([id, at]) => at - (direct.get(id) ?? 0));
  expect(Math.max(...late)).toBeLessThan(1_000);
  const at = [...through.values()];
  expect(Math.max(...at) - Math.min(...at)).toBeGreaterThan(5_000);
});

test('behind it clients are distinguished: attempts with unknown keys slow down no other client', async () => {
  const here = async (call: () => Promise<{ status: number; text(): Promise<string> }>) => {
    const answers = await Promise.all(Array.from({ length: 100 }, call));
    for (const answer of answers) await answer.text();
    return answers.map(({ status }) => status);
  };
  const through = () => here(() => secure.fetch('/api/v1/flows', { headers: unknownKey() }));
  await until('the client has to wait', async () => (await through()).includes(429));
  // Without Caddy in front, X-Forwarded-For is ignored.
  const spoofed = () => ({ ...unknownKey(), 'x-forwarded-for': `198.51.100.${randomInt(256)}` });
  const past = () => here(() => fetch(`${url}/api/v1/flows`, { headers: spoofed() }));
  expect(await past()).toContain(429);
  const output = await compose('exec', '-T', 'worker', 'node', '-e', hundredUnknownKeys);
  expect(new Set(JSON.parse(output) as number[])).toEqual(new Set([401]));
});

test('without it the service continues at its earlier address', async () => {
  const { runId } = await access.trigger({ prompt: slowly(5, 'went-on.md') });
  await withTls('rm', '--stop', '--force', 'caddy');
  expect(await docker('ps', '-aq', '--filter', 'name=flowrun-caddy')).toBe('');
  await expect(secure.fetch('/healthz')).rejects.toThrow();
  expect(await access.untilEnded(runId)).toMatchObject({ exitCode: 0 });
});

test('a configured and missing gVisor starts nothing, and every command reports why', async () => {
  set({ SANDBOX_RUNTIME: 'runsc', ...offline });
  await compose('up', '-d');
  await untilReady();
  await until('the host says so', async () => (await host()).runtimeFault !== null);
  const missing = { runtimeSetting: 'runsc', runtime: null, runtimeFault: 'runtime_missing' };
  expect(await host()).toMatchObject(missing);
  const { runId } = await access.trigger({ prompt: 'Write never.md' });
  const { error } = await access.untilEnded(runId);
  expect(error).toMatch(
    /^container_start_failed: the configured container runtime is not installed/,
  );
  expect(await docker('ps', '-aq', '--filter', `label=frs.run=${runId}`)).toBe('');
  expect(await compose('logs', 'worker')).toMatch(/npm run setup:gvisor.*"msg":"runtime_missing"/);
  const diagnosis = await doctor().catch(String);
  expect(diagnosis).toMatch(/"code":"runtime_missing"/);
  expect(diagnosis).toMatch(/"code":"host_runtime_missing"/);
});

test('with auto, sandboxes run on the runtime that the engine has', async () => {
  set({ SANDBOX_RUNTIME: 'auto', ...offline });
  await compose('up', '-d');
  await untilReady();
  await until('the host says so', async () => (await host()).runtime === 'runc');
  const { runId } = await access.trigger({ prompt: slowly(5, 'chosen.md') });
  await until('its sandbox is there', async () => (await sandboxes()).length === 1);
  expect((await sandboxes())[0]?.HostConfig.Runtime).toBe('runc');
  expect(await access.untilEnded(runId)).toMatchObject({ exitCode: 0 });
});

const unknownKey = () => ({
  authorization: `Bearer frs_${randomBytes(22).toString('hex').slice(1)}`,
});

/** For a container next to Caddy, which has a different address. */
const hundredUnknownKeys = `
  const { get } = require('node:https');
  const { randomBytes } = require('node:crypto');
  const ask = () => new Promise((resolve, reject) => {
    const authorization = 'Bearer frs_' + randomBytes(22).toString('hex').slice(1);
    const headers = { host: 'localhost', authorization };
    const to = { host: 'caddy', servername: 'localhost', rejectUnauthorized: false };
    get({ ...to, path: '/api/v1/flows', headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on('error', reject);
  });
  Promise.all(Array.from({ length: 100 }, ask)).then((all) => console.log(JSON.stringify(all)));
`;

/** The arrival time of each numbered event. */
async function arrivals(stream: AsyncIterable<SentEvent>): Promise<Map<string, number>> {
  const at = new Map<string, number>();
  for await (const { id } of stream) if (id !== undefined) at.set(id, performance.now());
  return at;
}

interface HostView {
  offersModel: boolean;
  runtimeSetting: string | null;
  runtime: string | null;
  runtimeFault: string | null;
}

async function host(): Promise<HostView> {
  const answer = await fetch(`${url}/readyz`);
  const { data } = (await answer.json()) as { data: { hosts: HostView[] } }; // as openapi.json has it
  const [found] = data.hosts;
  if (found === undefined) throw new Error('no host is known');
  return found;
}

/** The configuration in docs/operate.md. */
const doctor = (): Promise<string> =>
  compose(
    'exec',
    '-T',
    '-e',
    'PUBLIC_URL=http://api:8080',
    'worker',
    'flowrun',
    'doctor',
    '--json',
  );
