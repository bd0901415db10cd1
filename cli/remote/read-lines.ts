import { createInterface, type Interface } from 'node:readline';
import type { ReadLine } from './ask-questions.ts';

interface Lines {
  read: ReadLine;
  /** What Ctrl-C does from now on. Null: it ends the input. */
  interruptWith(listener: (() => void) | null): void;
  close(): void;
}

/**
 * Reads standard input by lines, from the first read on: a command that reads none leaves it to
 * others. Prompts go to standard error, because standard output is for answers. A script gets no
 * prompts.
 */
export function openLines(): Lines {
  let opened: { input: Interface; lines: AsyncIterator<string> } | undefined;
  let onInterrupt: (() => void) | null = null;

  function open() {
    const terminal = process.stdin.isTTY;
    const input = createInterface({ input: process.stdin, output: process.stderr, terminal });
    // A terminal that is being read from sends no signal.
    input.on('SIGINT', () => (onInterrupt === null ? input.close() : onInterrupt()));
    return { input, lines: input[Symbol.asyncIterator]() };
  }

  return {
    async read(prompt) {
      opened ??= open();
      const { input, lines } = opened;
      if (input.terminal) {
        input.setPrompt(prompt);
        input.prompt();
      }
      const next = await lines.next();
      return next.done === true ? null : next.value;
    },
    interruptWith(listener) {
      if (onInterrupt !== null) process.off('SIGINT', onInterrupt);
      onInterrupt = listener;
      if (listener !== null) process.on('SIGINT', listener);
    },
    close: () => opened?.input.close(),
  };
}
