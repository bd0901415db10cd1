import type { Http } from '../../../client/http/http.ts';
import { CliError } from '../../format-error.ts';

/** The operator's view of the service. */
export interface Operator {
  http: Http;
  /** The projects that are searched for a reference. */
  projects(): Promise<string[]>;
}

export type Identified = Record<string, unknown> & { projectId: string };

interface Search {
  /** Below the path of a project. */
  collection: string;
  /** The lists of the collection. */
  queries: readonly { archived?: boolean }[];
  /** The fields that a reference can name, the ID first. */
  fields: readonly string[];
}

const searches = {
  flow: { collection: 'flows', queries: [{}, { archived: true }], fields: ['flowId', 'name'] },
  key: { collection: 'keys', queries: [{}], fields: ['keyId', 'name', 'shownPrefix'] },
  endpoint: { collection: 'endpoints', queries: [{}], fields: ['endpointId', 'url'] },
} as const satisfies Record<string, Search>;

export const pathOf = (projectId: string): string => `/projects/${encodeURIComponent(projectId)}`;

/**
 * Finds a flow, key or endpoint by its ID or name, or by a unique prefix of either. Null if there
 * is none, and for an empty text, which is a prefix of everything. A whole ID or name wins over
 * prefixes.
 */
export async function findRecord<T extends Identified>(
  { http, projects }: Operator,
  kind: keyof typeof searches,
  reference: string,
): Promise<T | null> {
  if (reference === '') return null;
  const { collection, queries, fields } = searches[kind];
  const records: T[] = [];
  for (const projectId of await projects())
    for (const query of queries) {
      const path = `${pathOf(projectId)}/${collection}`;
      for await (const record of http.items<T>({ path, query })) records.push(record);
    }
  const texts = (record: T): string[] => fields.map((field) => textOf(record[field]));
  const named = records.filter((record) => texts(record).includes(reference));
  const found =
    named.length > 0
      ? named
      : records.filter((record) => texts(record).some((text) => text.startsWith(reference)));
  if (found.length < 2) return found[0] ?? null;
  const ids = found.map((record) => texts(record).join(' '));
  throw new CliError(`${reference} matches several: ${ids.join(', ')}. Use an ID.`);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
