/** What one program asks of Postgres. */
export interface StatementCount {
  statements: number;
  /** Of these, how many put frames into the log. */
  appends: number;
}

/**
 * Reads the client's side of the protocol: the first message names the program, after it every message
 * is a letter and a length. One `Execute` or one simple `Query` is one statement.
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

  /** How many bytes it has used; 0: the message is not whole yet. */
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

/** The parameters of the first message: names and values, each closed by a zero. */
function programOf(body: Buffer): string {
  const words = body.subarray(4).toString('utf8').split('\0');
  return words[words.indexOf('application_name') + 1] ?? '';
}
