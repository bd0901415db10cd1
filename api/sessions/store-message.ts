import type { NewMessage, StoredMessage } from '../../systems/postgres/sessions/message-store.ts';
import type { ApiDeps } from '../deps.ts';
import { storeContents } from '../files/classify-files.ts';
import type { DecodedFile } from '../files/input-files.ts';
import { retryWhileIgnoreChanges } from '../runs/admit-run.ts';

type StoreDeps = Pick<ApiDeps, 'messages' | 'blobs' | 'flowFiles'>;

/** Stores a message together with its files; refused, or known before, it stores nothing. */
export async function storeMessage(
  { messages, ...deps }: StoreDeps,
  message: NewMessage,
  { flowId, files }: { flowId: string; files: DecodedFile[] },
): Promise<StoredMessage> {
  if (files.length === 0) return messages.store(message);
  const request = { flowId, files };
  const foreseen = await retryWhileIgnoreChanges(deps, request, (given) =>
    messages.dryRunWithFiles(message, { flowId, given }),
  );
  if (foreseen.outcome !== 'stored') return foreseen;
  await storeContents(deps, files);
  return retryWhileIgnoreChanges(deps, request, (given) =>
    messages.storeWithFiles(message, { flowId, given }),
  );
}
