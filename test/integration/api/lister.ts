import { expect } from 'vitest';
import {
  type ApiFixture,
  type ApiProcess,
  publicUrl,
  type Tenant,
} from '../../support/api-fixture.ts';
import { type Answer, caller } from './call.ts';

interface Lister extends Tenant {
  ask: ReturnType<typeof caller>;
  /** Triggers one and gives its id. */
  run: (body?: object) => Promise<string>;
}

/** A separate project, so that a list has only the entries of one test. */
export async function newLister(fixture: ApiFixture, api: ApiProcess): Promise<Lister> {
  const made = await fixture.tenant();
  const ask = caller(api, made.key);
  return { ...made, ask, run: (body = {}) => trigger(ask, made.flowId, body) };
}

export async function trigger(
  ask: Lister['ask'],
  flowId: string,
  body: object = {},
): Promise<string> {
  const path = `/api/v1/flows/${flowId}/runs`;
  const { status, json } = await ask(path, { body: { prompt: 'Go', ...body } });
  expect(status).toBe(201);
  return json.data.runId;
}

export const idsOf = ({ json }: Answer): string[] =>
  json.data.map((run: { runId: string }) => run.runId);

export const nextOf = ({ headers }: Answer): string | null =>
  /^<(.+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]?.slice(publicUrl.length) ?? null;

/** All pages, from this one on. */
export async function turnPages(ask: Lister['ask'], first: string): Promise<string[]> {
  const seen: string[] = [];
  for (let next: string | null = first; next !== null; ) {
    const page: Answer = await ask(next);
    seen.push(...idsOf(page));
    next = nextOf(page);
  }
  return seen;
}

export const setColumn =
  ({ database }: ApiFixture) =>
  (runId: string, column: string, value: unknown) =>
    database.pool.query(`update runs set ${column} = $2 where id = $1`, [runId, value]);
