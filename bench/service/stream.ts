import { get } from 'node:http';
import type { Service } from '../../test/support/service.ts';
import { addPieces, createSightings, type Sightings } from './sightings.ts';

/** A minimal reader of a run's stream, whose sightings are raw events. */
export interface Stream extends Pick<Sightings, 'count' | 'until'> {
  close(): void;
}

export async function openStream(
  { url, key }: Pick<Service, 'url' | 'key'>,
  runId: string,
): Promise<Stream> {
  const sightings = createSightings();
  const headers = { authorization: `Bearer ${key}` };
  const request = get(`${url}/api/v1/runs/${runId}/stream`, { headers, agent: false });
  await new Promise<void>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      response.setEncoding('utf8').on('data', addPieces(sightings, '\n\n'));
      response.on('error', () => undefined); // the request is aborted on `close`
      resolve();
    });
  });
  return { ...sightings, close: () => void request.destroy() };
}

export const isEvent = (event: string, name: string): boolean => event.includes(`event: ${name}\n`);

/** The first frame that the prompt has caused: frames have ids, and `status` has none. */
export const isFrame = (event: string): boolean => event.startsWith('id: ');
