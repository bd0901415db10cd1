import { limits } from './limits.ts';

export interface WorkflowIdInput {
  projectId: string;
  runId: string;
  idempotencyKey: string | null;
  /** Start of the key's window; counts only where there is a key. */
  windowStart: Date;
  /** Hex digest of a text. */
  sha256: (text: string) => string;
}

/**
 * The id of a run's workflow. Project ids hold no slash and the window comes last, so an id reads
 * one way only and two keys never share one.
 */
export function workflowIdFor(input: WorkflowIdInput): string {
  if (input.idempotencyKey === null) return `run/${input.runId}`;
  const key = keyPart(input.idempotencyKey, input.sha256);
  return `run/${input.projectId}/${key}/${input.windowStart.toISOString()}`;
}

/** Workflow ids are kept in 255 characters. A short key that looks like a digest is hashed too. */
function keyPart(key: string, sha256: (text: string) => string): string {
  const short = key.length <= limits.idempotencyKeyInWorkflowIdMaxChars;
  return short && !key.startsWith(digestMark) ? key : `${digestMark}${sha256(key)}`;
}

const digestMark = 'sha256:';
