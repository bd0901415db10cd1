import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createEntryFixture, type EntryFixture } from './support/entry-fixture.ts';

let fixture: EntryFixture;
afterEach(() => fixture.close());

const config = {
  args: ['report', '0', '--flag', 'a value'],
  env: { TOKEN: 'mine', LANG: 'de_DE.UTF-8', PATH: '/evil', HTTPS_PROXY: 'http://evil' },
  files: [{ name: 'mcp.json', content: '{"mcpServers":{}}' }],
};

test('passes arguments, private files and environment, with precedence for the platform’s variables', async () => {
  fixture = await createEntryFixture({ config });
  await fixture.host.up();
  expect(await fixture.start().ended).toBe(0);
  const output = await fixture.untilPrinted('argv');
  expect(output).toMatchObject({
    argv: config.args,
    cwd: fixture.paths.workspace,
    files: [{ ...config.files[0], mode: '600' }],
    env: {
      TOKEN: 'mine',
      LANG: 'de_DE.UTF-8',
      HOME: fixture.paths.home,
      HTTPS_PROXY: `http://127.0.0.1:${fixture.paths.proxyPort}`,
      https_proxy: `http://127.0.0.1:${fixture.paths.proxyPort}`,
      NO_PROXY: '127.0.0.1,127.0.0.0/8,localhost,::1',
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${fixture.paths.proxyPort}/model`,
      ANTHROPIC_API_KEY: 'sandbox',
      PATH: expect.stringContaining('/usr/bin'),
    },
  });
});

test('acknowledges the configuration before the agent starts', async () => {
  fixture = await createEntryFixture({ config: { args: ['echo'] } });
  await fixture.host.up();
  let saidBefore = -1;
  fixture.host.once('/control/config/ack', (response) => {
    saidBefore = fixture.printed().length;
    response.writeHead(503).end(); // a second time
  });
  fixture.start();
  await fixture.untilPrinted('up');
  expect(saidBefore).toBe(0);
  expect(fixture.host.isAcknowledged()).toBe(true);
});

test('waits for the host, and retries after an unusable response', async () => {
  fixture = await createEntryFixture({ config: { args: ['echo'] } });
  const entry = fixture.start();
  await sleep(500);
  fixture.host.once('/control/config', (response) => response.writeHead(500).end('trouble'));
  await fixture.host.up();
  await fixture.untilPrinted('up');
  fixture.host.closeInput();
  expect(await entry.ended).toBe(0);
});

test('loses no configuration when the host dies in the middle of the response', async () => {
  fixture = await createEntryFixture({ config: { args: ['report'] } });
  fixture.host.once('/control/config', (response) => {
    response.writeHead(200, { 'content-length': 1_000 });
    response.write('{"args":["report"');
    setTimeout(() => void fixture.host.down().then(() => fixture.host.up()), 20);
  });
  await fixture.host.up();
  expect(await fixture.start().ended).toBe(0);
  expect(fixture.host.isAcknowledged()).toBe(true);
});

test('does not start the agent if its sandbox was superseded after it fetched the configuration', async () => {
  fixture = await createEntryFixture({ config });
  fixture.host.once('/control/config/ack', (response) => response.writeHead(410).end());
  await fixture.host.up();
  expect(await fixture.start().ended).toBe(78);
  expect(fixture.printed()).toEqual([]);
});

test('does not start the agent if the configuration was already fetched', async () => {
  fixture = await createEntryFixture();
  fixture.host.once('/control/config', (response) => response.writeHead(410).end());
  await fixture.host.up();
  expect(await fixture.start().ended).toBe(78);
  expect(fixture.printed()).toEqual([]);
  expect(fixture.errors()).toContain('already fetched');
});
