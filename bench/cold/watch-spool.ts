import { closeSync, type FSWatcher, openSync, readSync, watch } from 'node:fs';

export interface WatchedSpool {
  /** Returns when the first matching line appeared, on the clock of `performance.now()`. */
  untilLine(isIt: (line: string) => boolean): Promise<number>;
  close(): void;
}

interface SeenLine {
  text: string;
  at: number;
}

const pollMs = 100;
const timeoutMs = 60_000;

/** Reads a file as it grows, on every change that the kernel reports. */
export function watchSpool(path: string): WatchedSpool {
  const file = openSync(path, 'r');
  const buffer = Buffer.alloc(64 * 1024);
  const lines: SeenLine[] = [];
  const waiting = new Set<() => void>();
  let rest = Buffer.alloc(0);

  function read(): void {
    for (let size = readSync(file, buffer); size > 0; size = readSync(file, buffer)) {
      const at = performance.now();
      const whole = Buffer.concat([rest, buffer.subarray(0, size)]);
      const end = whole.lastIndexOf(0x0a) + 1;
      const texts = whole.subarray(0, end).toString('utf8').split('\n').slice(0, -1);
      lines.push(...texts.map((text) => ({ text, at })));
      rest = Buffer.from(whole.subarray(end));
    }
    for (const look of waiting) look();
  }

  const watcher: FSWatcher = watch(path, read);
  const timer = setInterval(read, pollMs);
  return {
    untilLine: (isIt) =>
      new Promise((resolve, reject) => {
        const deadline = setTimeout(() => reject(new Error(`not seen in ${path}`)), timeoutMs);
        const look = (): void => {
          const found = lines.find(({ text }) => isIt(text));
          if (found === undefined) return;
          clearTimeout(deadline);
          waiting.delete(look);
          resolve(found.at);
        };
        waiting.add(look);
        look();
      }),
    close() {
      clearInterval(timer);
      watcher.close();
      closeSync(file);
    },
  };
}
