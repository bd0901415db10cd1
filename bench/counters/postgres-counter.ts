/** Counts the statements that one program sends to Postgres. */
export interface StatementCount {
  statements: number;
  /** The number of statements that insert frames into the log. */
  appends: number;
}

/**
 * Parses the client's side of the protocol. The first message names the program. Each later message
 * is a letter and a length. One `Execute` or one simple `Query` counts as one statement.
 */
export function createPostgresCounter() {
  const counts = new Map<string, StatementCount>();
  return {
    of: (program: string): StatementCount => counts.get(program) ?? { statements: 0, appends: 0 },
    onConnection: () => readConnection(counts),
  };
}

const letters = { execute: 0x45, parse: 0x50, query: 0x51 };

function readConnection(counts: Map<string, StatementCount>): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let program: string | null = null;

  function note(letter: number, body: Buffer): void {
    const count = counts.get(program ?? '') ?? { statements: 0, appends: 0 };
    counts.set(program ?? '', count);
    if (letter === letters.execute || letter === letters.query) count.statements += 1;
    if (letter === letters.parse && body.includes('insert into frames')) count.appends += 1;
  }

  /** Returns the number of bytes consumed, or 0 if the message is incomplete. */
  function readMessage(): number {
    const start = program === null ? 0 : 1;
    if (rest.length < start + 4) return 0;
    const size = start + rest.readUInt32BE(start);
    if (rest.length < size) return 0;
    const body = rest.subarray(start + 4, size);
    if (program === null) program = programOf(body);
    else note(rest[0] ?? 0, body);
    return size;
  }

  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    for (let used = readMessage(); used > 0; used = readMessage()) rest = rest.subarray(used);
  };
}

/** The parameters of the startup message: names and values, each terminated by a zero byte. */
function programOf(body: Buffer): string {
  const fields = body.subarray(4).toString('utf8').split('\0');
  return fields[fields.indexOf('application_name') + 1] ?? '';
}
