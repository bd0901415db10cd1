import { callEngine } from '../engine-api.ts';
import { isOurEngine } from './engine.ts';

const imagesPerName = 3;

/**
 * Every change to an image leaves the previous one behind, a gigabyte each. Keeps the newest ones,
 * and those that a container uses, because the engine refuses to remove them. On our own engine, it
 * also removes unnamed build results after a day; on another engine they may belong to other work.
 */
export async function pruneImages(socket: string, name: string): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ reference: [`${name}:*`] }));
  const { text } = await callEngine(socket, { path: `/images/json?filters=${filters}` });
  const images = JSON.parse(text) as Image[]; // the engine's documented shape
  const outdated = images.sort((a, b) => b.Created - a.Created).slice(imagesPerName);
  for (const tag of outdated.flatMap(({ RepoTags }) => RepoTags ?? [])) {
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
