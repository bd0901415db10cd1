/**
 * Counts the frames of one stream as they come in pieces, and holds them to their numbers: each is
 * the one before and one more. Reads no more of a frame than its number and where it ends.
 */
export interface SseCounter {
  take(chunk: Buffer): void;
  /** Frames with a number so far. */
  count(): number;
  lastId(): number;
}

const eventEnd = Buffer.from('\n\n');
const idField = Buffer.from('id: ');

export function createSseCounter(): SseCounter {
  let rest: Buffer = Buffer.alloc(0);
  let count = 0;
  let last = 0;

  function note(event: Buffer): void {
    if (!event.subarray(0, idField.length).equals(idField)) return;
    const id = numberAt(event, idField.length);
    if (last !== 0 && id !== last + 1) throw new Error(`frame ${id} came after frame ${last}`);
    last = id;
    count += 1;
  }

  return {
    take(chunk) {
      const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let at = whole.indexOf(eventEnd); at !== -1; at = whole.indexOf(eventEnd, from)) {
        note(whole.subarray(from, at));
        from = at + eventEnd.length;
      }
      rest = Buffer.from(whole.subarray(from));
    },
    count: () => count,
    lastId: () => last,
  };
}

const zero = 0x30;

function numberAt(bytes: Buffer, start: number): number {
  let value = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const digit = (bytes[at] ?? 0) - zero;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  return value;
}
