import { machineMs } from '../../test/fixtures/scripted-agent/machine-clock.ts';

interface Sighting {
  text: string;
  /** By `machineMs`. */
  at: number;
}

/** Lines or events in the order of their arrival. */
export interface Sightings {
  add(text: string): void;
  /** The number so far: `until` with it as `from` sees only later ones. */
  count(): number;
  /** The first match, past or future. */
  until(isIt: (text: string) => boolean, from?: number): Promise<Sighting>;
}

const timeoutMs = 120_000;

export function createSightings(): Sightings {
  const seen: Sighting[] = [];
  const waiting = new Set<() => void>();
  return {
    add(text) {
      seen.push({ text, at: machineMs() });
      for (const look of waiting) look();
    },
    count: () => seen.length,
    until: (isIt, from = 0) =>
      new Promise((resolve, reject) => {
        let next = from;
        const timer = setTimeout(() => {
          waiting.delete(look);
          const last = seen.slice(-3).map(({ text }) => text.slice(0, 300));
          reject(new Error(`not seen in time; the last of ${seen.length}:\n${last.join('\n')}`));
        }, timeoutMs);
        const look = (): void => {
          for (; next < seen.length; next += 1) {
            const sighting = seen[next];
            if (sighting === undefined || !isIt(sighting.text)) continue;
            clearTimeout(timer);
            waiting.delete(look);
            return resolve(sighting);
          }
        };
        waiting.add(look);
        look();
      }),
  };
}

/** Splits chunks at a separator, and adds each whole piece. */
export function addPieces(sightings: Sightings, separator: string): (chunk: string) => void {
  let rest = '';
  return (chunk) => {
    const pieces = `${rest}${chunk}`.split(separator);
    rest = pieces.pop() ?? '';
    for (const piece of pieces) sightings.add(piece);
  };
}
