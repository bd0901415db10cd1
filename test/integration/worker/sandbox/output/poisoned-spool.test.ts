import { expect, test } from 'vitest';
import { useDatabase } from '../../../../support/use-database.ts';
import { assistant, createTailFixture, framesOf, plain } from './tail-fixture.ts';

const database = useDatabase();

const nested = '['.repeat(100_000);
const poison: [string, string | Buffer][] = [
  ['a NUL', Buffer.from('{"type":"assistant","x":"a\0b"}')],
  ['an escaped NUL', assistant('a\u0000b')],
  [
    'an escaped NUL in a result',
    JSON.stringify({ type: 'result', result: 'a\u0000b', subtype: '\u0000' }),
  ],
  [
    'an escaped NUL in a structured output',
    '{"type":"result","result":"x","structured_output":{"a":"\\u0000"}}',
  ],
  ['half of a surrogate pair', '{"type":"result","result":"\\ud800","subtype":"\\udfff"}'],
  ['what is no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0xc3, 0x28, 0x7d])],
  ['depth', `{"type":"assistant","message":${nested}`],
  ['balanced depth', `{"type":"result","structured_output":${nested}${']'.repeat(100_000)}}`],
  ['a prototype', '{"__proto__":{"type":"result"},"constructor":1}'],
  [
    'numbers beyond the column types',
    '{"type":"result","num_turns":1e308,"total_cost_usd":1e308,"usage":{"input_tokens":1e308}}',
  ],
  ['numbers that are none', '{"type":"result","num_turns":"x","total_cost_usd":{},"usage":[]}'],
  ['an event of ours', '{"type":"finished","reason":"completed"}'],
  ['a type with line ends', '{"type":"a\\r\\nevent: finished"}'],
  ['white space', ' \t \r'],
  ['nothing', ''],
];

test.each(poison)('%s does not block later output', async (_name, line) => {
  const fixture = await createTailFixture(database.pool);
  const failures: unknown[] = [];
  const tail = await fixture.tail({ onFailure: (error) => void failures.push(error) });
  await fixture.write(Buffer.concat([Buffer.from(line), Buffer.from(`\n${assistant('after')}\n`)]));
  await tail.readToEnd();
  expect(failures).toEqual([]);
  const log = plain(await fixture.log());
  expect(log.slice(-2)).toEqual(framesOf([assistant('after')]));
  expect(log.map(({ event }) => event)).not.toContain('finished');
});

test('truncates and marks a line over the limit, in bounded memory, and counts it in full', async () => {
  const fixture = await createTailFixture(database.pool);
  const tail = await fixture.tail();
  const before = process.memoryUsage().rss;
  const piece = Buffer.alloc(1024 ** 2, 'x');
  await fixture.write('{"type":"assistant","x":"');
  for (let i = 0; i < 50; i += 1) await fixture.write(piece);
  await fixture.write(`"}\n${assistant('after')}\n`);
  await tail.readToEnd();
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 ** 2);
  const log = plain(await fixture.log());
  const cut = log.find(({ event }) => event === 'line_cut');
  expect(JSON.parse(cut?.data ?? '{}')).toMatchObject({ bytes: 50 * 1024 ** 2 + 28 });
  expect(log.slice(-2)).toEqual(framesOf([assistant('after')]));
});
