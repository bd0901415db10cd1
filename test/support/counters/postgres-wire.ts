// Reads one connection to Postgres in both directions. The client's side has the statements, the
// server's side has the ends of transactions. Messages are a letter, a length and a body; only the
// client's first message has no letter.

import { nameOfText } from './statement-name.ts';
import type { ConnectionObserver } from './tcp-tap.ts';

interface PostgresEvents {
  /** `program` is the connection's `application_name`. */
  connected(program: string): void;
  statement(program: string, name: string): void;
  /** A transaction has ended; a statement outside of one is a transaction. */
  transaction(program: string, end: { names: string[]; committed: boolean }): void;
}

export function observePostgres(
  events: PostgresEvents,
): ConnectionObserver & { isIdle(): boolean } {
  const texts = new Map<string, string>();
  let program: string | null = null;
  let bound = '';
  let names: string[] = [];
  let lastTag = '';
  let hasFailed = false;
  let unanswered = 0;

  function run(name: string): void {
    names.push(name);
    events.statement(program ?? '', name);
  }

  function onSent(letter: string, body: Buffer): void {
    if (letter === 'P') {
      const [name = '', text = ''] = stringsIn(body, 2);
      texts.set(name, name === '' ? nameOfText(text) : name);
    }
    if (letter === 'B') bound = stringsIn(body, 2)[1] ?? '';
    if (letter === 'E') run(texts.get(bound) ?? bound);
    if (letter === 'Q') run(nameOfText(stringsIn(body, 1)[0] ?? ''));
    if (letter === 'Q' || letter === 'S') unanswered += 1;
  }

  function onAnswered(letter: string, body: Buffer): void {
    if (letter === 'C') lastTag = stringsIn(body, 1)[0] ?? '';
    if (letter === 'E') hasFailed = true;
    if (letter === 'Z') onReady(String.fromCharCode(body[0] ?? 0));
  }

  function onReady(status: string): void {
    if (unanswered === 0) return events.connected(program ?? '');
    unanswered -= 1;
    const committed = !hasFailed && lastTag !== 'ROLLBACK';
    // In an open transaction, the tag of its end tells whether it failed.
    hasFailed = false;
    if (status !== 'I' || names.length === 0) return;
    const ended = { names, committed };
    names = [];
    events.transaction(program ?? '', ended);
  }

  return {
    sent: readMessages((letter, body) => {
      if (letter === null) program = programOf(body);
      else onSent(letter, body);
    }, true),
    answered: readMessages((letter, body) => onAnswered(letter ?? '', body), false),
    isIdle: () => unanswered === 0 && names.length === 0,
  };
}

type OnMessage = (letter: string | null, body: Buffer) => void;

/** Joins chunks to messages. Long messages are kept as a list, so that each byte is copied once. */
function readMessages(onMessage: OnMessage, startsWithoutLetter: boolean) {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = startsWithoutLetter;

  /** Returns the number of bytes consumed, or 0 if the message is incomplete. */
  function readOne(from: number): number {
    const start = from + (isFirst ? 0 : 1);
    if (rest.length < start + 4) return 0;
    const end = start + rest.readUInt32BE(start);
    if (rest.length < end) return 0;
    const letter = isFirst ? null : String.fromCharCode(rest[from] ?? 0);
    isFirst = false;
    onMessage(letter, rest.subarray(start + 4, end));
    return end - from;
  }

  return (chunk: Buffer): void => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let used = readOne(at); used > 0; used = readOne(at)) at += used;
    rest = rest.subarray(at);
  };
}

/** The parameters of the startup message: names and values, each terminated by a zero byte. */
function programOf(body: Buffer): string {
  const fields = body.subarray(4).toString('utf8').split('\0');
  return fields[fields.indexOf('application_name') + 1] ?? '';
}

function stringsIn(body: Buffer, count: number): string[] {
  const found: string[] = [];
  let at = 0;
  while (found.length < count) {
    const end = body.indexOf(0, at);
    if (end === -1) break;
    found.push(body.subarray(at, end).toString('utf8'));
    at = end + 1;
  }
  return found;
}
