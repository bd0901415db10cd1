import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type EntryWorld, entryWorld } from './support/entry-fixture.ts';

let world: EntryWorld;
afterEach(() => world.close());

const config = {
  args: ['tell', '0', '--flag', 'a value'],
  env: { TOKEN: 'mine', LANG: 'de_DE.UTF-8', PATH: '/evil', HTTPS_PROXY: 'http://evil' },
  files: [{ name: 'mcp.json', content: '{"mcpServers":{}}' }],
};

test('passes arguments, private files and environment, with precedence for the platform’s variables', async () => {
  world = await entryWorld({ config });
  await world.host.up();
  expect(await world.start().ended).toBe(0);
  const output = await world.untilSaid('argv');
  expect(output).toMatchObject({
    argv: config.args,
    cwd: world.paths.workspace,
    files: [{ ...config.files[0], mode: '600' }],
    env: {
      TOKEN: 'mine',
      LANG: 'de_DE.UTF-8',
      HOME: world.paths.home,
      HTTPS_PROXY: `http://127.0.0.1:${world.paths.proxyPort}`,
      https_proxy: `http://127.0.0.1:${world.paths.proxyPort}`,
      NO_PROXY: '127.0.0.1,127.0.0.0/8,localhost,::1',
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${world.paths.proxyPort}/model`,
      ANTHROPIC_API_KEY: 'sandbox',
      PATH: expect.stringContaining('/usr/bin'),
    },
  });
});

test('acknowledges the configuration before the agent starts', async () => {
  world = await entryWorld({ config: { args: ['echo'] } });
  await world.host.up();
  let saidBefore = -1;
  world.host.once('/control/config/ack', (response) => {
    saidBefore = world.said().length;
    response.writeHead(503).end(); // a second time
  });
  world.start();
  await world.untilSaid('up');
  expect(saidBefore).toBe(0);
  expect(world.host.isAcknowledged()).toBe(true);
});

test('waits for the host, and retries after an unusable response', async () => {
  world = await entryWorld({ config: { args: ['echo'] } });
  const entry = world.start();
  await sleep(500);
  world.host.once('/control/config', (response) => response.writeHead(500).end('trouble'));
  await world.host.up();
  await world.untilSaid('up');
  world.host.closeInput();
  expect(await entry.ended).toBe(0);
});

test('loses no configuration when the host dies in the middle of the response', async () => {
  world = await entryWorld({ config: { args: ['tell'] } });
  world.host.once('/control/config', (response) => {
    response.writeHead(200, { 'content-length': 1_000 });
    response.write('{"args":["tell"');
    setTimeout(() => void world.host.down().then(() => world.host.up()), 20);
  });
  await world.host.up();
  expect(await world.start().ended).toBe(0);
  expect(world.host.isAcknowledged()).toBe(true);
});

test('does not start the agent if the configuration was already fetched', async () => {
  world = await entryWorld();
  world.host.once('/control/config', (response) => response.writeHead(410).end());
  await world.host.up();
  expect(await world.start().ended).toBe(78);
  expect(world.said()).toEqual([]);
  expect(world.errors()).toContain('already fetched');
});
