// MCP servers as the real agent uses them: over both transports, over https with a test authority
// through the proxy that permits only the run's servers, and inside the sandbox.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeAuthority } from '../support/authority.ts';
import { openConversation } from '../support/conversation.ts';
import { type DerivedImage, deriveImage } from '../support/derived-image.ts';
import { startMcpServer, type TestMcpServer } from '../support/mcp-server.ts';
import { modelScript } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { collect } from '../support/stream-story.ts';

const patiently = { timeout: 180_000 };

const host = '127.0.0.1';
/** The same server from here, by a name that an agent does not resolve to its sandbox. */
const outside = '0.0.0.0';

let image: DerivedImage;
let service: Service;
const servers: Record<string, TestMcpServer> = {};
/** The port of the server inside a sandbox, and of a decoy on this machine. */
let decoy: TestMcpServer;

beforeAll(async () => {
  const authority = makeAuthority(outside);
  const start = (name: string, transport: 'http' | 'sse') =>
    startMcpServer({ name, transport, host, tls: authority });
  servers['web'] = await start('web', 'http');
  servers['events'] = await start('events', 'sse');
  servers['own'] = await start('own', 'http');
  servers['closed'] = await start('closed', 'http');
  decoy = await startMcpServer({ name: 'decoy', transport: 'http', host: '0.0.0.0' });
  image = await deriveImage(besideTheEntry, {
    '/usr/local/share/ca-certificates/test.crt': authority.ca,
    '/opt/test/mcp-server.ts': readFileSync(
      new URL('../support/mcp-server.ts', import.meta.url),
      'utf8',
    ),
    '/opt/test/before.js': startsServerFirst(decoy.port),
  });
  const open = ['web', 'events', 'own'].map((name) => `${outside}:${servers[name]?.port}`);
  service = await startService({
    agent: 'real',
    env: { EGRESS_ALLOW_PRIVATE: open.join(',') },
    flow: {
      image: image.name,
      secrets: {
        env: { OWN_TOKEN: 'of the flow' },
        mcpServers: { own: serverOf('own', 'OWN_TOKEN') },
      },
    },
  });
}, 300_000);
afterAll(async () => {
  await service?.stop();
  await Promise.all([...Object.values(servers), decoy].map((server) => server?.close()));
  await image?.remove();
});

const besideTheEntry = `
update-ca-certificates
cat /opt/test/before.js /opt/frs/entry.js > /tmp/entry.js
mv /tmp/entry.js /opt/frs/entry.js
chmod a+r /opt/frs/entry.js
chmod -R a+rX /opt/test`;

/** The entry program waits for the server, and starts the agent after it. */
const startsServerFirst = (port: number) => `
const child = require('node:child_process');
child.spawn('/usr/local/bin/node', ['-e', \`import('/opt/test/mcp-server.ts').then((test) =>
  test.startMcpServer({ name: 'inside', transport: 'http', host: '0.0.0.0', port: ${port} }))\`]);
child.execFileSync('/bin/sh', ['-c',
  'until curl -s -o /dev/null http://127.0.0.1:${port}/; do sleep 0.05; done']);
`;

const serverOf = (name: string, token: string) => ({
  type: 'http' as const,
  url: `https://${outside}:${servers[name]?.port}/mcp`,
  headers: { authorization: `Bearer \${${token}}` },
});
/** Names of a sandbox for itself. */
const inside = () =>
  Object.fromEntries(
    Object.entries({ inside: '127.0.0.1', named: 'localhost', other: '127.0.0.2' }).map(
      ([name, itself]) => [name, { type: 'http', url: `http://${itself}:${decoy.port}/mcp` }],
    ),
  );
const env = { TOKEN: 'of the run' };

/** The agent calls each of these tools with a different word. */
const calling = (...tools: string[]): string => {
  const steps = tools.map((tool, at) => ({ tool, input: { text: `word ${at}` } }));
  return modelScript([...steps, { text: 'Done.' }]);
};

interface Init {
  mcp_servers: { name: string; status: string }[];
  tools: string[];
}

async function run(body: Record<string, unknown>) {
  const { runId } = await service.trigger({ env, ...body });
  const events = await collect(service.stream(runId));
  const init = events.find(({ event, data }) => event === 'system' && data.includes('"init"'));
  const userEvents = events.filter(({ event }) => event === 'user').map(({ data }) => data);
  const { mcp_servers: known, tools } = JSON.parse(init?.data ?? '{}') as Init; // the agent's own
  const statuses = Object.fromEntries(known.map(({ name, status }) => [name, status]));
  return {
    record: await service.readRun(runId),
    statuses,
    tools,
    userEvents: userEvents.join('\n'),
  };
}

const authorizations = (name: string) =>
  new Set(servers[name]?.requests.map(({ headers }) => headers.authorization));

test(
  'are called over http, over sse and inside the sandbox, with variables expanded in headers',
  patiently,
  async () => {
    const { record, statuses, userEvents } = await run({
      prompt: calling(
        ...['mcp__web__echo', 'mcp__events__echo', 'mcp__inside__echo', 'mcp__own__echo'],
        ...['mcp__named__echo', 'mcp__other__echo'],
      ),
      mcpServers: {
        web: serverOf('web', 'TOKEN'),
        events: { ...serverOf('events', 'TOKEN'), type: 'sse' },
        ...inside(),
      },
    });
    expect(statuses).toEqual({
      ...{ web: 'connected', events: 'connected', inside: 'connected', own: 'connected' },
      ...{ named: 'connected', other: 'connected' },
    });
    const answers = ['web heard word 0', 'events heard word 1', 'inside heard word 2'];
    answers.push('own heard word 3', 'inside heard word 4', 'inside heard word 5');
    for (const answer of answers) expect(userEvents).toContain(answer);
    expect(record).toMatchObject({
      result: 'Done.',
      mcpServerNames: ['events', 'inside', 'named', 'other', 'own', 'web'],
    });
    for (const name of ['web', 'events']) {
      expect(authorizations(name)).toEqual(new Set(['Bearer of the run']));
    }
    expect(authorizations('own')).toEqual(new Set(['Bearer of the flow']));
    expect(decoy.requests).toEqual([]);
  },
);

test(
  'of the run win by name, use its variables, and cannot reach what the operator forbids',
  patiently,
  async () => {
    const address = `\${HOST}/mcp?to=\${TOKEN}`;
    const { record, statuses, userEvents } = await run({
      prompt: calling('mcp__own__echo', 'mcp__led__echo'),
      mcpServers: {
        own: serverOf('web', 'TOKEN'),
        led: { type: 'http', url: address },
        closed: serverOf('closed', 'TOKEN'),
      },
      env: { ...env, HOST: `https://${outside}:${servers['own']?.port}` },
    });
    expect(statuses).toEqual({ own: 'connected', led: 'connected', closed: 'failed' });
    expect(userEvents).toContain('web heard word 0');
    expect(userEvents).toContain('own heard word 1');
    expect(record).toMatchObject({ result: 'Done.', mcpServerNames: ['closed', 'led', 'own'] });
    expect(servers['closed']?.requests).toEqual([]);
  },
);

test(
  'can be the only ones, without the tools that the run withholds: one, or all of a server',
  patiently,
  async () => {
    const { record, statuses, tools, userEvents } = await run({
      prompt: calling('mcp__web__echo', 'mcp__web__other', 'mcp__events__other'),
      mcpMode: 'replace',
      mcpServers: {
        web: serverOf('web', 'TOKEN'),
        events: { ...serverOf('events', 'TOKEN'), type: 'sse' },
      },
      disallowedTools: ['mcp__web__echo', 'mcp__events__*'],
    });
    expect(statuses).toEqual({ web: 'connected', events: 'connected' });
    expect(tools.filter((name) => name.startsWith('mcp__'))).toEqual(['mcp__web__other']);
    expect(userEvents).toContain('web heard word 1');
    for (const gone of ['mcp__web__echo', 'mcp__events__other']) {
      expect(userEvents).toContain(`No such tool available: ${gone}`);
    }
    expect(record.mcpServerNames).toEqual(['events', 'web']);
  },
);

test('of a session get a changed header from its next turn on', patiently, async () => {
  const given = serverOf('web', 'TOKEN');
  const web = { ...given, url: `${given.url}?room=7`, headers: { authorization: 'first' } };
  const chat = await openConversation(service, { mcpServers: { web } });
  const call = { tool: 'mcp__web__echo', input: { text: 'word' } };
  const command = 'until test -e /workspace/go-on; do sleep 0.1; done';
  const wait = { tool: 'Bash', input: { command } };
  const model = (...steps: object[]) => modelScript([...steps, { text: 'Done.' }]);

  const before = heardBy('web').length;
  const message = await chat.send(model(call, wait, call));
  await chat.until(({ event, data }) => event === 'assistant' && data.includes('go-on'));
  const path = `/flows/${service.flowId}/sessions/${chat.sessionId}/config`;
  const body = { mcpServers: { web: { headers: { authorization: 'second' } } } };
  expect(await service.call('PATCH', path, { body })).toMatchObject({
    ...{ status: 200, data: { effective: 'next_turn', mcpServers: ['web'] } },
  });
  releaseAgent(service, chat.runId);
  expect(await chat.turn(message)).toMatchObject({ exitCode: 0, texts: ['Done.'] });
  const between = heardBy('web').length;
  await chat.say(model(call));
  expect(new Set(heardBy('web').slice(before, between))).toEqual(new Set(['/mcp?room=7 first']));
  expect(new Set(heardBy('web').slice(between))).toEqual(new Set(['/mcp?room=7 second']));
  const answers = chat.named('user').filter(({ data }) => data.includes('web heard word'));
  expect(answers).toHaveLength(3);
  await endSession(service, chat);
});

const heardBy = (name: string): string[] =>
  (servers[name]?.requests ?? []).map(({ path, headers }) => `${path} ${headers.authorization}`);
