/** One line of the spool. `bytes` includes its newline if it has one. */
export interface SpoolLine {
  text: string;
  bytes: number;
  /** Bytes that were cut off because the line exceeds the bound. */
  cutBytes: number;
}

interface LineSplitter {
  /** The lines that this chunk completes. */
  push(chunk: Buffer): SpoolLine[];
  /** The rest without a newline, at the end of the output. */
  end(): SpoolLine[];
  /** Bytes that do not belong to a complete line yet. */
  pendingBytes(): number;
}

const newline = 0x0a;

/**
 * Splits at newline bytes and decodes only whole lines, so a character that spans two reads is
 * joined first. Only the start of a longer line, up to the bound, is kept in memory.
 */
export function createLineSplitter(lineMaxBytes: number): LineSplitter {
  let parts: Buffer[] = [];
  let keptBytes = 0;
  let totalBytes = 0;

  function keep(part: Buffer): void {
    totalBytes += part.length;
    const fitting = part.subarray(0, Math.max(0, lineMaxBytes - keptBytes));
    if (fitting.length === 0) return;
    parts.push(fitting);
    keptBytes += fitting.length;
  }

  function take(newlineBytes: 0 | 1): SpoolLine {
    const line = {
      text: decode(Buffer.concat(parts)),
      bytes: totalBytes + newlineBytes,
      cutBytes: totalBytes - keptBytes,
    };
    parts = [];
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
      // A copy, because the reader reuses its buffer.
      if (from < chunk.length) keep(Buffer.from(chunk.subarray(from)));
      return lines;
    },
    end: () => (totalBytes === 0 ? [] : [take(0)]),
    pendingBytes: () => totalBytes,
  };
}

/** Invalid UTF-8 becomes U+FFFD. A byte order mark is kept. */
function decode(bytes: Buffer): string {
  return bytes.toString('utf8');
}
