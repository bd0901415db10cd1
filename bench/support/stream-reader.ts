import { get } from 'node:http';
import type { Service } from '../../test/support/service.ts';

/** One reader of a run's stream, as light as a reader can be. */
export interface StreamReader {
  /** When the next event of that kind came, on the clock of `performance.now()`; given as it was sent. */
  untilEvent(isIt: (event: string) => boolean): Promise<number>;
  leave(): void;
}

export async function openStreamReader(
  { url, key }: Pick<Service, 'url' | 'key'>,
  runId: string,
): Promise<StreamReader> {
  const looking = new Set<(event: string, at: number) => void>();
  let rest = '';
  const headers = { authorization: `Bearer ${key}` };
  const request = get(`${url}/api/v1/runs/${runId}/stream`, { headers, agent: false });
  await new Promise<void>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        const at = performance.now();
        const events = `${rest}${text}`.split('\n\n');
        rest = events.pop() ?? '';
        for (const event of events) for (const look of looking) look(event, at);
      });
      response.on('error', () => undefined); // we have left
      resolve();
    });
  });
  return {
    untilEvent: (isIt) =>
      new Promise((resolve) => {
        const look = (event: string, at: number): void => {
          if (!isIt(event)) return;
          looking.delete(look);
          resolve(at);
        };
        looking.add(look);
      }),
    leave: () => void request.destroy(),
  };
}
