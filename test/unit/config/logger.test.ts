import { describe, expect, test } from 'vitest';
import { createLogger, type Logger } from '../../../config/logger.ts';

/** The lines that a logger wrote. */
function logged(write: (logger: Logger) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  const logger = createLogger(
    { level: 'info', name: 'test' },
    { write: (line) => void lines.push(line) },
  );
  write(logger);
  return lines.map((line) => {
    expect(line.endsWith('\n')).toBe(true);
    return JSON.parse(line) as Record<string, unknown>;
  });
}

describe('a log line', () => {
  test('is an event with fields', () => {
    const [line] = logged((logger) => logger.info({ runId: 'r-1', count: 2 }, 'run admitted'));
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.+Z$/),
      name: 'test',
      runId: 'r-1',
      count: 2,
      msg: 'run admitted',
    });
  });

  test('respects the log level', () => {
    expect(logged((logger) => logger.debug('not this'))).toEqual([]);
  });
});

describe('a secret is redacted', () => {
  const key = `frs_${'canary1234'.repeat(5).slice(0, 43)}`;
  const ways: [string, (logger: Logger) => void][] = [
    ['as a field', (logger) => logger.info({ apiKey: 'canary' })],
    ['deep in a field', (logger) => logger.info({ a: { b: [{ headers: { x: 'canary' } }] } })],
    ['bound to a child', (logger) => logger.child({ token: 'canary' }).info('x')],
    [
      'bound to a grandchild',
      (logger) =>
        logger
          .child({})
          .child({ a: { prompt: 'canary' } })
          .info('x'),
    ],
    ['in a message', (logger) => logger.info(`refused ${key}`)],
    ['in a formatted value', (logger) => logger.info('refused %s', key)],
    [
      'in the message of an error',
      (logger) => logger.error(new Error('at redis://:canary@127.0.0.1/0')),
    ],
    [
      'in a property of an error',
      (logger) => logger.error({ err: Object.assign(new Error('x'), { env: { A: 'canary' } }) }),
    ],
    [
      'in the cause of an error',
      (logger) => logger.error(new Error('x', { cause: new Error(`with Bearer canary-canary`) })),
    ],
    ['in a URL', (logger) => logger.info({ url: '/api/v1/runs/1/stream?api_key=canary' })],
    [
      'in a callback URL',
      (logger) => logger.info({ callbackUrl: 'https://x.example/canary?y=canary' }),
    ],
    [
      'returned by a serializer',
      (logger) =>
        logger
          .child({}, { serializers: { req: () => ({ headers: { authorization: 'canary' } }) } })
          .info({ req: {} }),
    ],
  ];

  test.each(ways)('%s', (_way, write) => {
    const lines = logged(write);
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).not.toContain('canary');
  });

  test('and an unredacted value is found, as a control', () => {
    const lines = logged((logger) => logger.info({ runId: 'canary' }));
    expect(JSON.stringify(lines)).toContain('canary');
  });
});
