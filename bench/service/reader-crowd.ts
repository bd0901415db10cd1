import { startChild } from '../limits/child.ts';
import type { CrowdAnswer, CrowdCommand, CrowdSetting } from './reader-process.ts';

/** Readers of one stream, all in one separate process. */
export interface ReaderCrowd {
  /** The keys are used in turn. */
  open(url: string, keys: string[]): Promise<void>;
  /**
   * Resolves when each reader has received this many numbered frames since it connected, with the
   * CPU time that the readers have used since the last call. Call it before the frames are sent.
   */
  untilFrames(count: number): Promise<CrowdAnswer>;
  leave(): void;
  stop(): Promise<void>;
}

export function startReaderCrowd(connections: number): ReaderCrowd {
  const setting: CrowdSetting = { connections };
  const program = new URL('./reader-process.ts', import.meta.url);
  const child = startChild<CrowdCommand, CrowdAnswer>(program, setting);
  return {
    async open(url, keys) {
      child.send({ kind: 'open', url, keys });
      await child.answer();
    },
    async untilFrames(frames) {
      child.send({ kind: 'expect', frames });
      return child.answer();
    },
    leave: () => child.send({ kind: 'leave' }),
    stop: () => child.stop(),
  };
}
