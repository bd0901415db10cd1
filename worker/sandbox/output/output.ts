import type { SandboxParts } from '../context.ts';
import { boundsOf, type SupervisorDeps } from '../deps.ts';
import type { Ownership } from '../ownership.ts';
import { limitCpus } from '../start/cpu-limit.ts';
import { type FileTreeWatch, watchFileTree } from '../workspace/tree-watch.ts';
import { type SpoolFault, type SpoolTail, startTail } from './spool-tail.ts';

export interface WatchedOutput {
  tail: SpoolTail;
  tree: FileTreeWatch;
}

/** Tails the spool, and does what is due when the agent has said something. */
export function watchOutput(
  deps: SupervisorDeps,
  parts: SandboxParts,
  { ownership, onFault }: { ownership: Ownership; onFault: (trouble: SpoolFault) => void },
): WatchedOutput {
  const { ref, run, turns, folders, session } = parts;
  const { batchLines: lines, batchBytes: bytes, ...bounds } = boundsOf(deps);
  const atFirstWord = once(() => endBoot(deps, parts, ownership.signal));
  const tree = watchFileTree(folders.workspace, (json) =>
    deps.frameStream.publishFileTree(ref.runId, json),
  );
  const tail = startTail({
    ...ref,
    token: parts.lease.token,
    position: parts.lease.position,
    spool: parts.spool,
    chat: session?.reader ?? null,
    bounds: { ...bounds, lines, bytes },
    withDeltas: run.partialMessages,
    frames: deps.frames,
    interactions: deps.interactions,
    frameStream: deps.frameStream,
    onStored(stored) {
      turns.note(stored);
      session?.chat.note(stored.facts);
      parts.replies.refuse(stored.memory.refusals);
      tree.stir();
      atFirstWord();
    },
    onFault: onFault,
    onFenced: () => ownership.release('the lease is lost'),
    onFailure: ownership.retry.onFailure,
  });
  return { tail, tree };
}

function endBoot(deps: SupervisorDeps, parts: SandboxParts, signal: AbortSignal): void {
  const { containerId, flow, logger } = parts;
  if (containerId === null) return;
  const { sandboxes } = deps;
  void limitCpus({ sandboxes, logger }, { containerId, cpus: flow.resources.cpus }, signal);
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}
