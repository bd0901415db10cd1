import { callEngine } from '../engine-api.ts';
import { isOurEngine } from './engine.ts';

const imagesPerName = 3;

/**
 * Every change to an image leaves the last one behind, a gigabyte each: the newest few are kept, and
 * those that a container uses, which the engine refuses to remove. What builds leave without a name
 * goes after a day, on our own engine only: on another it may be somebody's work.
 */
export async function pruneImages(socket: string, name: string): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ reference: [`${name}:*`] }));
  const { text } = await callEngine(socket, { path: `/images/json?filters=${filters}` });
  const images = JSON.parse(text) as Image[]; // the engine's own documented shape
  const oldestLast = images.sort((a, b) => b.Created - a.Created).slice(imagesPerName);
  for (const tag of oldestLast.flatMap(({ RepoTags }) => RepoTags ?? [])) {
    if (!tag.startsWith(`${name}:`)) continue;
    await callEngine(socket, { method: 'DELETE', path: `/images/${encodeURIComponent(tag)}` });
  }
  if (!isOurEngine(socket)) return;
  const dangling = encodeURIComponent(JSON.stringify({ dangling: ['true'], until: ['24h'] }));
  await callEngine(socket, { method: 'POST', path: `/images/prune?filters=${dangling}` });
}

interface Image {
  Created: number;
  RepoTags: string[] | null;
}
