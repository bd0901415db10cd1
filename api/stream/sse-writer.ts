import type { ServerResponse } from 'node:http';
import { limits } from '../../core/limits.ts';

/** A reader's end of a stream: takes bytes as fast as the reader does, and no faster. */
export interface Outlet {
  /**
   * A promise only where the reader has to be waited for: a thousand readers feel one for each write.
   * The next bytes may come then. False: the reader is gone.
   */
  write: (bytes: Buffer) => boolean | Promise<boolean>;
  isOpen: () => boolean;
  onClose: (listener: () => void) => void;
  end: () => void;
  destroy: () => void;
}

/**
 * At most one slice waits in memory. A reader who takes nothing of it for a while is cut off: it
 * comes back by its last id. Waiting for `drain` alone would hang for ever when the reader leaves.
 */
export function createOutlet(res: ServerResponse): Outlet {
  res.on('error', () => undefined); // a write that crosses the reader's leaving; `close` follows
  const isOpen = () => !res.destroyed && !res.writableEnded;

  function writeSlice(slice: Buffer): boolean | Promise<boolean> {
    if (!isOpen()) return false;
    if (res.write(slice) || !res.writableNeedDrain) return isOpen();
    return drained(res).then(isOpen);
  }

  async function writeSlices(bytes: Buffer): Promise<boolean> {
    for (let at = 0; at < bytes.length; at += limits.streamBufferMaxBytes) {
      const slice = bytes.subarray(at, at + limits.streamBufferMaxBytes);
      if (!(await writeSlice(slice))) return false;
    }
    return isOpen();
  }

  return {
    write: (bytes) =>
      bytes.length > limits.streamBufferMaxBytes ? writeSlices(bytes) : writeSlice(bytes),
    isOpen,
    onClose: (listener) => void res.on('close', listener),
    end: () => void res.end(),
    destroy: () => void res.destroy(),
  };
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => res.destroy(), limits.streamStallMs);
    const settle = () => {
      clearTimeout(timer);
      res.off('drain', settle);
      res.off('close', settle);
      resolve();
    };
    res.on('drain', settle);
    res.on('close', settle);
    if (res.destroyed) settle();
  });
}
