import { startChild } from './child.ts';
import type { ReadersAnswer, ReadersCommand, ReadersSetting } from './readers.ts';

/** Readers of a stream, all in one separate process. */
export interface Readers {
  open(url: string, keys: string[]): Promise<void>;
  /** Resolves when each reader has received this many numbered frames since it connected. */
  haveFrames(count: number): Promise<ReadersAnswer>;
  leave(): void;
  stop(): Promise<void>;
}

export function openReaders(connections: number): Readers {
  const setting: ReadersSetting = { connections };
  const program = new URL('./readers.ts', import.meta.url);
  const child = startChild<ReadersCommand, ReadersAnswer>(program, setting);
  return {
    async open(url, keys) {
      child.send({ kind: 'open', url, keys });
      await child.answer();
    },
    async haveFrames(frames) {
      child.send({ kind: 'expect', frames });
      return child.answer();
    },
    leave: () => child.send({ kind: 'leave' }),
    stop: () => child.stop(),
  };
}
