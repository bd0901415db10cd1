// Serves the API's calls to this host. A request is a row that remains until it has a result. If
// the process dies in between, the request is handled again, so handlers are safe to repeat. A
// handler that throws is called again after a while, until the request expires. Identical requests
// that are open when a handler is called share its result.

import type { Logger } from 'pino';
import {
  type HostCallKind,
  type HostCallPayload,
  type HostCallResult,
  hostChannel,
  responseChannel,
} from '../../core/hosts/host-rpc.ts';
import { limits } from '../../core/limits.ts';
import { createNotifier } from '../../lib/async/notifier.ts';
import { sleep } from '../../lib/async/sleep.ts';
import type { HostCall, HostRpcStore } from '../../systems/postgres/hosts/host-rpc-store.ts';
import type { Notifications } from '../../systems/redis/notifications.ts';
import type { RunLogContext } from '../run-log-context.ts';
import { createRpcSlots, pacedKind, type RpcSlots } from './rpc-slots.ts';

interface CallContext {
  runId: string;
  /** Aborted when the API no longer waits for the result. */
  signal: AbortSignal;
}

/** One handler per kind. It may be called twice for one request, even concurrently. */
export type RpcHandlers = {
  [K in HostCallKind]: (payload: HostCallPayload<K>, of: CallContext) => Promise<HostCallResult<K>>;
};

interface HostRpcDeps {
  hostId: string;
  store: Pick<HostRpcStore, 'listOpen' | 'setResult' | 'removeExpired'>;
  notifications: Pick<Notifications, 'notify' | 'subscribe'>;
  handlers: RpcHandlers;
  runLogContext: RunLogContext;
  logger: Logger;
}

const expireEveryMs = 60_000;

/** Serves requests until the signal, then waits for those in progress. */
export async function serveHostRpc(deps: HostRpcDeps, signal: AbortSignal): Promise<void> {
  const notifier = createNotifier();
  const removeExpired = createExpiry(deps);
  const unsubscribe = deps.notifications.subscribe(hostChannel(deps.hostId), notifier.notify);
  const slots = createRpcSlots(limits.hostRpc.slots, notifier.notify);
  while (!signal.aborted) {
    await removeExpired();
    for (const call of await fetchPending(deps, slots)) {
      slots.start(call, () => handle(deps, call, signal));
    }
    await notifier.waitAtMost(limits.hostRpc.pollMs, signal);
  }
  unsubscribe();
  await slots.drain();
}

async function fetchPending(
  { hostId, store, logger }: HostRpcDeps,
  slots: RpcSlots,
): Promise<HostCall[]> {
  const paced = { kind: pacedKind, runIds: slots.pacedRuns() };
  try {
    const limit = limits.hostRpc.slots;
    return await store.listOpen({ hostId, served: slots.served(), paced, limit });
  } catch (err) {
    logger.warn({ err }, 'host_rpc_poll_failed');
    return [];
  }
}

/** Removes expired requests. The process that waited for them has died. */
function createExpiry({ store, logger }: HostRpcDeps): () => Promise<void> {
  let dueAt = 0;
  return async () => {
    if (performance.now() < dueAt) return;
    dueAt = performance.now() + expireEveryMs;
    await store
      .removeExpired()
      .catch((err: unknown) => logger.warn({ err }, 'host_rpc_cleanup_failed'));
  };
}

/** Never rejects. */
async function handle(deps: HostRpcDeps, call: HostCall, stopping: AbortSignal): Promise<void> {
  const { requestIds, runId, kind, leftMs } = call;
  const expired = AbortSignal.timeout(Math.max(1, Math.ceil(leftMs)));
  try {
    const result = await callHandler(deps.handlers, call, expired);
    await deps.store.setResult(requestIds, JSON.stringify(result));
    for (const requestId of requestIds) deps.notifications.notify(responseChannel(requestId));
  } catch (err) {
    const event = expired.aborted ? 'host_rpc_expired' : 'host_rpc_failed';
    deps.logger.warn({ err, kind, ...(await deps.runLogContext(runId)) }, event);
    await sleep(limits.hostRpc.pollMs, stopping);
  }
}

function callHandler(
  handlers: RpcHandlers,
  { runId, kind, payload }: HostCall,
  signal: AbortSignal,
): Promise<unknown> {
  if (!Object.hasOwn(handlers, kind)) throw new Error(`this host has no handler for ${kind}`);
  // The API has written the payload for this kind.
  const handler = handlers[kind as HostCallKind] as (
    payload: unknown,
    of: CallContext,
  ) => Promise<unknown>;
  return handler(JSON.parse(payload), { runId, signal });
}
