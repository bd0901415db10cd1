import { get } from 'node:http';
import type { Service } from '../../test/support/service.ts';

/** A minimal reader of a run's stream. */
export interface StreamReader {
  /**
   * Resolves with the time of the next matching event, on the clock of `performance.now()`. The
   * predicate gets the raw event.
   */
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
      response.on('error', () => undefined); // the request is aborted on `leave`
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
