import { describe, expect, test } from 'vitest';
import { observeDocker } from '../../support/counters/docker-wire.ts';
import { observePostgres } from '../../support/counters/postgres-wire.ts';
import { nameOfText } from '../../support/counters/statement-name.ts';

describe('a connection to Postgres', () => {
  const startup = message('', '\0\x03\0\0user\0me\0application_name\0one-worker\0\0');
  const ready = (status: string) => message('Z', status);

  /** Feeds both directions byte by byte, and returns what was observed. */
  function observe(exchanges: { sent: Buffer; answered: Buffer }[]): string[] {
    const seen: string[] = [];
    const connection = observePostgres({
      connected: (program) => seen.push(`${program} connects`),
      statement: (_, name) => seen.push(name),
      transaction: (_, { names, committed }) =>
        seen.push(`${committed ? 'commits' : 'rolls back'} ${names.length}`),
    });
    for (const { sent, answered } of [{ sent: startup, answered: ready('I') }, ...exchanges]) {
      for (const byte of sent) connection.sent(Buffer.of(byte));
      for (const byte of answered) connection.answered?.(Buffer.of(byte));
    }
    return seen;
  }

  const extended = (name: string, text: string | null): Buffer =>
    Buffer.concat([
      text === null ? Buffer.alloc(0) : message('P', `${name}\0${text}\0\0\0`),
      message('B', `\0${name}\0\0\0\0\0\0\0`),
      message('E', '\0\0\0\0\0'),
      message('S', ''),
    ]);
  const simple = (text: string): Buffer => message('Q', `${text}\0`);
  const done = (tag: string, status: string): Buffer =>
    Buffer.concat([message('C', `${tag}\0`), ready(status)]);
  const failed = (status: string): Buffer => Buffer.concat([message('E', 'S\0\0'), ready(status)]);

  test('counts a statement outside of a transaction as a transaction', () => {
    const sent = extended('', `select 'Q' from runs`);
    expect(observe([{ sent, answered: done('SELECT 1', 'I') }])).toEqual([
      'one-worker connects',
      'select … from runs',
      'commits 1',
    ]);
  });

  test('names a prepared statement by its name, also when its text is not sent again', () => {
    const answered = done('SELECT 1', 'I');
    const first = { sent: extended('claim_turn', 'select $1'), answered };
    const second = { sent: extended('claim_turn', null), answered };
    const names = observe([first, second]).filter((line) => line === 'claim_turn');
    expect(names).toHaveLength(2);
  });

  test('counts the statements of a transaction, and one commit', () => {
    const seen = observe([
      { sent: simple('begin'), answered: done('BEGIN', 'T') },
      { sent: extended('', 'delete from runs'), answered: done('DELETE 1', 'T') },
      { sent: simple('commit'), answered: done('COMMIT', 'I') },
    ]);
    expect(seen.slice(1)).toEqual(['begin', 'delete from runs', 'commit', 'commits 3']);
  });

  test('counts no commit for a failed statement or a failed transaction', () => {
    const seen = observe([
      { sent: extended('', 'select 1/0'), answered: failed('I') },
      { sent: simple('begin'), answered: done('BEGIN', 'T') },
      { sent: extended('', 'select 1/0'), answered: failed('E') },
      { sent: simple('commit'), answered: done('ROLLBACK', 'I') },
      { sent: simple('select 1'), answered: done('SELECT 1', 'I') },
    ]);
    const ends = seen.filter((line) => /^(commits|rolls)/.test(line));
    expect(ends).toEqual(['rolls back 1', 'rolls back 3', 'commits 1']);
  });

  test('is idle when every statement is answered and no transaction is open', () => {
    const connection = observePostgres({
      connected: () => undefined,
      statement: () => undefined,
      transaction: () => expect(connection.isIdle()).toBe(true),
    });
    connection.sent(startup);
    connection.answered?.(ready('I'));
    expect(connection.isIdle()).toBe(true);
    connection.sent(simple('begin'));
    connection.answered?.(done('BEGIN', 'T'));
    expect(connection.isIdle()).toBe(false);
    connection.sent(simple('commit'));
    expect(connection.isIdle()).toBe(false);
    connection.answered?.(done('COMMIT', 'I'));
    expect(connection.isIdle()).toBe(true);
  });
});

/** A message of Postgres's protocol: a letter, the length and the body. */
function message(letter: string, body: string): Buffer {
  const bytes = Buffer.from(body, 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length + length.length);
  return Buffer.concat([Buffer.from(letter), length, bytes]);
}

describe('the name of a statement', () => {
  test.each([
    ['select  a,\n b from runs\n where id = $1', 'select … from runs where id = $1'],
    ['select from runs where id = $1', 'select from runs where id = $1'],
    ['select db_clock() as at', 'select db_clock() as at'],
    ['begin', 'begin'],
  ])('of %j is %j', (text, name) => {
    expect(nameOfText(text)).toBe(name);
  });

  test('has at most 140 characters of the text', () => {
    expect(nameOfText(`delete from ${'x'.repeat(128)}`)).toHaveLength(140);
    expect(nameOfText(`delete from ${'x'.repeat(129)}`)).toBe(`delete from ${'x'.repeat(128)}…`);
  });
});

describe('a connection to Docker', () => {
  const id = 'ab'.repeat(32);
  const body = 'GET /containers/json HTTP/1.1\r\n\r\n';
  const text = [
    `POST /v1.41/containers/create?name=x HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    `GET /containers/${id}/json HTTP/1.1\r\nHost: y\r\n\r\n`,
    `POST /containers/frs-1/pause HTTP/1.1\r\nHost: y\r\n\r\n`,
    `GET /images/registry/image:tag/json HTTP/1.1\r\nHost: y\r\n\r\n`,
    `GET /containers/json?all=1 HTTP/1.1\r\nHost: y\r\n\r\n`,
    `DELETE /containers/${id}?v=1 HTTP/1.1\r\nHost: y\r\n\r\n`,
  ].join('');

  test.each([1, 7, text.length])('counts calls by kind, %d bytes at a time', (bytes) => {
    const seen: string[] = [];
    const { sent } = observeDocker((name) => seen.push(name));
    for (let at = 0; at < text.length; at += bytes) sent(Buffer.from(text.slice(at, at + bytes)));
    expect(seen).toEqual([
      'POST /containers/create',
      'GET /containers/…/json',
      'POST /containers/…/pause',
      'GET /images/…/json',
      'GET /containers/json',
      'DELETE /containers/…',
    ]);
  });
});
