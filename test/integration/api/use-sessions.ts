import type { ApiProcess, Tenant } from '../../support/api-fixture.ts';
import { type Answer, type CallOptions, caller } from './call.ts';
import { useTenant } from './use-api.ts';

interface OpenedSession {
  sessionId: string;
  runId: string;
}

/** Sessions of a flow, and functions that send messages. */
export function useSessions() {
  const { fixture, api, tenant, call } = useTenant();

  const chatOf = ({ flowId, key }: Tenant, at: Pick<ApiProcess, 'url'> = api) => {
    const ask = caller(at, key);
    return (body: unknown, options: CallOptions = {}): Promise<Answer> =>
      ask(`/api/v1/flows/${flowId}/chat`, { body, ...options });
  };
  const chat = (body: unknown, options?: CallOptions) => chatOf(tenant)(body, options);
  const sessionsOf = ({ flowId }: Pick<Tenant, 'flowId'> = tenant) =>
    `/api/v1/flows/${flowId}/sessions`;

  async function open(of: Tenant = tenant): Promise<OpenedSession> {
    const { json } = await caller(api, of.key)(sessionsOf(of), { body: {} });
    const { sessionId, runId } = json.data;
    return { sessionId, runId };
  }

  /** How many a session has, in any state. */
  async function messages(runId: string): Promise<number> {
    const text = 'select count(*)::int as n from session_messages where run_id = $1';
    return (await fixture.database.pool.query<{ n: number }>(text, [runId])).rows[0]?.n ?? 0;
  }

  return { fixture, api, tenant, call, chatOf, chat, sessionsOf, open, messages };
}
