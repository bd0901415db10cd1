import { boundsOf, type SupervisorDeps } from './deps.ts';
import { limitCpus } from './limit-cpus.ts';
import type { SandboxParts } from './sandbox-parts.ts';
import { type SpoolTail, type SpoolTrouble, startTail } from './spool-tail.ts';
import { type FileTreeWatch, watchFileTree } from './workspace/file-tree.ts';

export interface OutputHooks {
  onTrouble(trouble: SpoolTrouble): void;
  onFenced(): void;
  onFailure(error: unknown, attempt: number): void;
  /** Aborted when the sandbox is over or let go of. */
  signal: AbortSignal;
}

/** Tails the spool, and does what is due when the agent has said something. */
export function watchOutput(
  deps: SupervisorDeps,
  parts: SandboxParts,
  hooks: OutputHooks,
): { tail: SpoolTail; tree: FileTreeWatch } {
  const { ref, run, turns, folders } = parts;
  const { lineBytes, chunkBytes, spoolBytes, batchLines, batchBytes } = boundsOf(deps);
  const atFirstWord = once(() => endBoot(deps, parts, hooks.signal));
  const tree = watchFileTree(folders.workspace, (json) =>
    deps.frameStream.publishFileTree(ref.runId, json),
  );
  const tail = startTail({
    ...ref,
    token: parts.lease.token,
    position: parts.lease.position,
    spool: parts.spool,
    bounds: { lineBytes, chunkBytes, spoolBytes, lines: batchLines, bytes: batchBytes },
    withDeltas: run.partialMessages,
    frames: deps.frames,
    frameStream: deps.frameStream,
    onStored(stored) {
      turns.note(stored);
      tree.stir();
      atFirstWord();
    },
    onTrouble: hooks.onTrouble,
    onFenced: hooks.onFenced,
    onFailure: hooks.onFailure,
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
