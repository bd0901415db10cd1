import { sandboxPaths } from '../../../core/sandbox/sandbox-config.ts';
import { readChunks } from '../workspace/hash-file.ts';
import { openFile } from '../workspace/walk.ts';

const headBytes = 4 * 1024 ** 2;

/** The agent derives the folder's name from the working directory. */
export const transcriptName = (conversationId: string): string =>
  `${sandboxPaths.workspace.replaceAll(/[^A-Za-z0-9]/g, '-')}/${conversationId}.jsonl`;

/**
 * True if the agent can continue this conversation. An agent that was killed in its first turn may
 * have left a file without messages. An agent may also have replaced the file.
 */
export async function hasConversation(transcripts: string, name: string): Promise<boolean> {
  const file = await openFile(transcripts, name);
  if (file === null) return false;
  try {
    if (!(await file.stat()).isFile()) return false;
    let head = '';
    for await (const chunk of readChunks(file, headBytes)) head += chunk.toString('utf8');
    return /"type":\s?"(?:user|assistant)"/.test(head);
  } finally {
    await file.close();
  }
}
