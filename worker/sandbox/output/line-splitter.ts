/** One line of the spool. `bytes` counts its newline, where it has one. */
export interface SpoolLine {
  text: string;
  bytes: number;
  /** Bytes that the text lacks because the line was over the bound. */
  cutBytes: number;
}

interface LineSplitter {
  /** The lines that this chunk completes. */
  push(chunk: Buffer): SpoolLine[];
  /** What is left without a newline when nothing follows. */
  end(): SpoolLine[];
  /** Bytes taken in that belong to no line yet. */
  pendingBytes(): number;
}

const newline = 0x0a;

/**
 * Splits on newline bytes and decodes whole lines only: a character cut by a read is joined before
 * it is decoded. Of a line over the bound no more than the bound is kept in memory.
 */
export function createLineSplitter(lineMaxBytes: number): LineSplitter {
  let context: Buffer[] = [];
  let keptBytes = 0;
  let totalBytes = 0;

  function keep(part: Buffer): void {
    totalBytes += part.length;
    const fitting = part.subarray(0, Math.max(0, lineMaxBytes - keptBytes));
    if (fitting.length === 0) return;
    context.push(fitting);
    keptBytes += fitting.length;
  }

  function take(newlineBytes: 0 | 1): SpoolLine {
    const line = {
      text: decode(Buffer.concat(context)),
      bytes: totalBytes + newlineBytes,
      cutBytes: totalBytes - keptBytes,
    };
    context = [];
    keptBytes = 0;
    totalBytes = 0;
    return line;
  }

  return {
    push(chunk) {
      const lines: SpoolLine[] = [];
      let from = 0;
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
        keep(chunk.subarray(from, at));
        lines.push(take(1));
        from = at + 1;
      }
      // A copy: the reader's buffer is used again for what follows.
      if (from < chunk.length) keep(Buffer.from(chunk.subarray(from)));
      return lines;
    },
    end: () => (totalBytes === 0 ? [] : [take(0)]),
    pendingBytes: () => totalBytes,
  };
}

/** Broken UTF-8 becomes U+FFFD; a byte order mark is kept like any other character. */
function decode(bytes: Buffer): string {
  return bytes.toString('utf8');
}
