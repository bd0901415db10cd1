// A service for requests of any kind. It has runs and sessions in every state. Runs that a request
// starts are ended soon, and its messages are withdrawn, so that no request waits for a worker.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Node } from '../../api/openapi/json-tree.ts';
import { caller } from '../integration/api/call.ts';
import { createFuzzData, type FuzzData } from '../integration/api/fuzz/fuzz-data.ts';
import { cookieOf } from '../integration/api/operators/operator-client.ts';
import { openApiFixture, publicUrl } from '../support/api-fixture.ts';

export interface FuzzedService {
  url: string;
  /** An API key. */
  key: string;
  /** The cookie of an operator who has signed in. */
  cookie: string;
  /** Existing IDs by the name of a path parameter. */
  ids: Record<string, string[]>;
  close: () => Promise<void>;
}

export async function openFuzzedService(): Promise<FuzzedService> {
  const fixture = await openApiFixture();
  const data = await createFuzzData(fixture, 1);
  for (let i = 0; i < 5; i += 1) await data.refill();
  const { pool } = fixture.database;
  const { rows } = await pool.query<{ id: string; project_id: string }>(
    'select id, project_id from runs',
  );
  const kept = rows.map(({ id }) => id);
  const [key = ''] = data.keys;
  const call = caller(data.api, key);
  const stop = new AbortController();

  /** Ends the runs and withdraws the messages that requests have started and sent. */
  async function endWork(): Promise<void> {
    const started = await pool.query<{ id: string }>(
      `select id from runs where ended_at is null and session_id is null and not id = any ($1)`,
      [kept],
    );
    for (const { id: runId } of started.rows) {
      await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
      await fixture.frameStream.notify(runId);
    }
    const queued = await pool.query<{ flow: string; session: string; id: string }>(
      `select r.flow_id as flow, r.session_id as session, m.id
       from session_messages m join runs r on r.id = m.run_id
       where m.created_at < now() - interval '2 s' and not m.run_id = any ($1)`,
      [kept],
    );
    for (const { flow, session, id } of queued.rows) {
      await call(`/api/v1/flows/${flow}/sessions/${encodeURIComponent(session)}/messages/${id}`, {
        method: 'DELETE',
      });
    }
  }

  async function work(): Promise<void> {
    while (!stop.signal.aborted) {
      await endWork();
      await sleep(500, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  const working = work();
  const { code } = await fixture.stores.operators.invite('ana');
  const headers = { origin: publicUrl };
  const answer = await caller(data.api, null)('/api/sign-in', { body: { code }, headers });
  return {
    url: data.api.url,
    key,
    cookie: cookieOf(answer),
    ids: { ...idsOf(data), projectId: [...new Set(rows.map((run) => run.project_id))] },
    async close() {
      stop.abort();
      await working;
      await fixture.close();
    },
  };
}

const parameters = ['flowId', 'runId', 'sessionId', 'messageId', 'interactionId'];

function idsOf({ idOf }: FuzzData): Record<string, string[]> {
  const choices = Array.from({ length: 300 }, (_, choice) => choice);
  return Object.fromEntries(
    parameters.map((name) => [name, [...new Set(choices.map((choice) => idOf(name, choice)))]]),
  );
}

/** The description with existing IDs for its path parameters, besides all others. */
export function withIds(document: Node, ids: FuzzedService['ids']): Node {
  const copy = structuredClone(document);
  const paths = copy['paths'] as Record<string, Record<string, { parameters?: Node[] }>>;
  const described = Object.values(paths).flatMap(Object.values);
  for (const parameter of described.flatMap(({ parameters: each = [] }) => each)) {
    const known = parameter['in'] === 'path' ? ids[String(parameter['name'])] : undefined;
    if (known === undefined) continue;
    parameter['schema'] = { anyOf: [{ type: 'string', enum: known }, parameter['schema']] };
  }
  return copy;
}
