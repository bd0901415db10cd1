import type { buildConnector } from 'undici';
import { describe, expect, it } from 'vitest';
import { createWebhookSender } from '../../../../worker/webhook/send-webhook.ts';

/** Replaces the real connect and always fails, so that no packet leaves this machine. */
function setUp(answers: Record<string, string[]>, allowPrivate: string[] = []) {
  const connected: string[] = [];
  const connect = ((options: { lookup?: unknown }) => {
    return (target: buildConnector.Options, callback: buildConnector.Callback) => {
      connected.push(target.hostname);
      expect(options.lookup).toBeTypeOf('function');
      callback(new Error('the spy refuses'), null);
    };
  }) as typeof buildConnector;
  const send = createWebhookSender({
    caFile: null,
    allowPrivate,
    connect,
    lookup: async (host) => answers[host] ?? [],
  });
  return { connected, send: (url: string) => send({ url, body: '{}', headers: {} }) };
}

const inside = [
  '127.0.0.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[ff02::1]',
];

describe('a callback URL with a private address', () => {
  it.each(inside)('is rejected as %s, without a connection', async (host) => {
    const { send, connected } = setUp({});
    expect(await send(`https://${host}/hook`)).toMatchObject({ outcome: 'blocked' });
    expect(connected).toEqual([]);
  });

  it('is rejected if one of its addresses is private', async () => {
    const { send, connected } = setUp({ 'mixed.example': ['8.8.8.8', '1.1.1.1', '127.0.0.1'] });
    expect(await send('https://mixed.example/')).toMatchObject({ outcome: 'blocked' });
    expect(connected).toEqual([]);
  });

  it('is rejected for a name of this machine', async () => {
    const { send, connected } = setUp({ localhost: ['127.0.0.1'], 'localhost.': ['127.0.0.1'] });
    expect(await send('https://localhost./')).toMatchObject({ outcome: 'blocked' });
    expect(connected).toEqual([]);
  });

  it('is rejected if its name does not resolve, and may be retried', async () => {
    const { send, connected } = setUp({});
    expect(await send('https://nowhere.example/')).toEqual({
      outcome: 'failed',
      reason: 'unresolvable',
    });
    expect(connected).toEqual([]);
  });

  it("is resolved once per attempt, even if the name's addresses change", async () => {
    let lookups = 0;
    const connected: string[] = [];
    const connect: typeof buildConnector = () => (target, callback) => {
      connected.push(target.hostname);
      callback(new Error('the spy refuses'), null);
    };
    const send = createWebhookSender({
      caFile: null,
      allowPrivate: [],
      connect,
      lookup: async () => (lookups++ % 2 === 0 ? ['8.8.8.8'] : ['127.0.0.1']),
    });
    for (let i = 0; i < 1_000; i++) {
      await send({ url: 'https://rebound.example/', body: '{}', headers: {} });
    }
    expect([lookups, connected.length]).toEqual([1_000, 500]);
  });
});

describe('an invalid callback URL is rejected', () => {
  it.each([
    'http://public.example/',
    'https://user:secret@public.example/',
    'https://public.example:25/',
    'https://public.example:80/',
    'https://public.example:1023/',
  ])('is rejected: %s', async (url) => {
    const { send, connected } = setUp({ 'public.example': ['8.8.8.8'] });
    expect(await send(url)).toMatchObject({ outcome: 'blocked' });
    expect(connected).toEqual([]);
  });

  it.each(['https://public.example/', 'https://public.example:1024/', 'https://8.8.8.8/'])(
    'is connected to if it is valid: %s',
    async (url) => {
      const { send, connected } = setUp({ 'public.example': ['8.8.8.8'] });
      expect(await send(url)).toEqual({ outcome: 'failed', reason: 'not_connected' });
      expect(connected).toHaveLength(1);
    },
  );

  it('may be private only if the operator allows it', async () => {
    const { send, connected } = setUp({}, ['10.0.0.0/8']);
    expect(await send('https://10.1.2.3/')).toMatchObject({ outcome: 'failed' });
    expect(await send('https://192.168.0.1/')).toMatchObject({ outcome: 'blocked' });
    expect(connected).toEqual(['10.1.2.3']);
  });
});
