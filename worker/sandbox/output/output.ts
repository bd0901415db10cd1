import { once } from '../../../lib/once.ts';
import type { SandboxContext } from '../context.ts';
import { boundsOf, type SandboxDeps } from '../deps.ts';
import type { Ownership } from '../ownership.ts';
import { sandboxKey } from '../sandbox-key.ts';
import { applyCpuLimit } from '../start/cpu-limit.ts';
import { type FileTreeWatch, watchFileTree } from '../workspace/tree-watch.ts';
import { acknowledgeInput } from './acknowledge-input.ts';
import { type SpoolFault, type SpoolTail, startTail } from './spool-tail.ts';

export interface OutputPipeline {
  tail: SpoolTail;
  tree: FileTreeWatch;
}

/** Tails the spool, and notifies the other modules of new output. */
export function startOutput(
  deps: SandboxDeps,
  context: SandboxContext,
  { ownership, onFault }: { ownership: Ownership; onFault: (fault: SpoolFault) => void },
): OutputPipeline {
  const { ref, run, turns, folders, session } = context;
  const { batchLines: lines, batchBytes: bytes, ...bounds } = boundsOf(deps);
  const onFirstOutput = once(() => endBootPhase(deps, context, ownership.signal));
  const releasePermit = (): void => deps.startLimiter.release(sandboxKey(ref));
  ownership.signal.addEventListener('abort', releasePermit, { once: true });
  const publish = (json: string) => deps.frameStream.publishFileTree(ref.runId, json);
  const tree = watchFileTree(folders.workspace, { pause: context.pause, publish });
  const tail = startTail({
    ...ref,
    token: context.lease.token,
    position: context.lease.position,
    spool: context.spool,
    pause: context.pause,
    chat: session?.reader ?? null,
    bounds: { ...bounds, lines, bytes },
    withDeltas: run.partialMessages,
    frames: deps.frames,
    callsWritten: context.socket.meter.written,
    onBatchStored: deps.onBatchStored,
    interactions: deps.interactions,
    frameStream: deps.frameStream,
    onStored(stored) {
      turns.note(stored);
      session?.turns.note(stored.facts);
      acknowledgeInput(context.socket.input, stored.facts);
      context.answers.deny(stored.agentState.denials);
      tree.notify();
      onFirstOutput();
    },
    onFault,
    onFenced: () => ownership.release('the lease is lost'),
    onFailure: ownership.retry.onFailure,
  });
  return { tail, tree };
}

function endBootPhase(deps: SandboxDeps, context: SandboxContext, signal: AbortSignal): void {
  const { ref, containerId, flow, logger } = context;
  deps.startLimiter.release(sandboxKey(ref));
  if (containerId === null) return;
  const { sandboxes } = deps;
  void applyCpuLimit({ sandboxes, logger }, { containerId, cpus: flow.resources.cpus }, signal);
}
