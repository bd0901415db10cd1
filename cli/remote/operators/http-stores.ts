import type { Stores } from '../../deps.ts';
import { CliError } from '../../format-error.ts';
import { findRecord, type Identified, type Operator, pathOf } from './find-record.ts';
import { httpChanges } from './http-changes.ts';
import { orNull } from './or-null.ts';

interface Secrets {
  webhookSecret: string;
  nextWebhookSecret: string | null;
}

/**
 * The stores of the administration, over the operators' routes. References are IDs, names or unique
 * prefixes. Times are texts as the service sends them, which are printed as they are.
 */
export function createHttpStores(operator: Operator, url: string): Stores {
  const { http } = operator;
  const all = async (path: string, query: { archived?: boolean } = {}): Promise<unknown[]> => {
    const items: unknown[] = [];
    for await (const item of http.items({ path, query })) items.push(item);
    return items;
  };
  const find = (kind: 'flow' | 'key' | 'endpoint') => (reference: string) =>
    findRecord(operator, kind, reference);

  const stores = {
    projects: {
      find: (id: string) => orNull(http.data({ path: pathOf(id) })),
      list: (isArchived = false) => all('/projects', { archived: isArchived }),
      async ensureWebhookSecrets(id: string) {
        const path = `${pathOf(id)}/webhook-secret`;
        const { webhookSecret, nextWebhookSecret } = await http.data<Secrets>({ path });
        return { secret: webhookSecret, nextSecret: nextWebhookSecret };
      },
    },
    flows: {
      find: find('flow'),
      listByProject: async (id: string, { isArchived = false }: { isArchived?: boolean }) => ({
        flows: await all(`${pathOf(id)}/flows`, { archived: isArchived }),
        next: null,
      }),
    },
    keys: { find: find('key'), list: (id: string) => all(`${pathOf(id)}/keys`) },
    endpoints: { find: find('endpoint'), list: (id: string) => all(`${pathOf(id)}/endpoints`) },
    events: {
      find: (reference: string) => findEvent(operator, reference),
      async page(reference: string, { limit }: { limit: number }) {
        const path = await eventsPath(operator, reference);
        return { events: await http.data({ path, query: { limit } }), next: null };
      },
    },
    flowVersions: { list: needsDatabase, find: needsDatabase },
    // The service checks it.
    checkRunner: async () => undefined,
    change: <T>(work: (on: ReturnType<typeof httpChanges>) => Promise<T>) =>
      work(httpChanges(operator)),
    publicUrl: url,
    modelPrices: {},
    webhookAllowPrivate: [],
  };
  // The commands of operator-commands.ts call only these. Their records differ from those of the
  // database in times, which are texts here.
  return stores as unknown as Stores;
}

const pageSize = 200;

async function findEvent(operator: Operator, reference: string): Promise<Identified | null> {
  if (reference === '') return null;
  for (const projectId of await operator.projects()) {
    const endpoints = `${pathOf(projectId)}/endpoints`;
    for await (const { endpointId } of operator.http.items<{ endpointId: string }>({
      path: endpoints,
    })) {
      const path = `${endpoints}/${endpointId}/events`;
      const events = await operator.http.data<Identified[]>({ path, query: { limit: pageSize } });
      const found = events.find(({ eventId }) => String(eventId).startsWith(reference));
      if (found !== undefined) return found;
    }
  }
  return null;
}

async function eventsPath(operator: Operator, reference: string): Promise<string> {
  const endpoint = await findRecord(operator, 'endpoint', reference);
  if (endpoint === null) throw new CliError(`No such endpoint: ${reference}.`);
  return `${pathOf(endpoint.projectId)}/endpoints/${String(endpoint['endpointId'])}/events`;
}

const needsDatabase = async (): Promise<never> => {
  throw new CliError(
    'This command needs the database: run ./flowrun on the machine of the service.',
  );
};
