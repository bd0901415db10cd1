import type { Readable } from 'node:stream';

const newline = 0x0a;

/** The lines of a stream, split on the newline byte alone and decoded whole; a last one without it counts too. */
export async function* readInputLines(input: Readable): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      pieces.push(chunk.subarray(start, end));
      yield Buffer.concat(pieces).toString('utf8');
      pieces = [];
      start = end + 1;
    }
    pieces.push(chunk.subarray(start));
  }
  const rest = Buffer.concat(pieces).toString('utf8');
  if (rest !== '') yield rest;
}
