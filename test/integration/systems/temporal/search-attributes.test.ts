import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { searchAttributeNames } from '../../../../core/temporal/search-attribute-names.ts';
import { createTemporal, type Temporal } from '../../../../systems/temporal/client.ts';
import { admittedRun } from '../../../support/admitted-run.ts';
import { type OwnTemporal, startOwnTemporal } from '../../../support/own-temporal.ts';

/** The number of KEYWORD in Temporal's enum IndexedValueType. */
const keyword = 2;

let server: OwnTemporal;
const open: Temporal[] = [];
beforeAll(async () => {
  server = await startOwnTemporal();
}, 120_000);
afterAll(async () => {
  for (const temporal of open) await temporal.close();
  await server?.stop();
});

function temporalOf(namespace: string): Temporal {
  const { address } = server;
  const temporal = createTemporal({ namespace, connection: { address }, instance: 'attributes' });
  open.push(temporal);
  return temporal;
}

async function makeNamespace(namespace: string, others: string[]): Promise<void> {
  const { workflowService, operatorService } = server.connection;
  const workflowExecutionRetentionPeriod = msToTs('1 day');
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  const searchAttributes = Object.fromEntries(others.map((name) => [name, keyword]));
  const add = () => operatorService.addSearchAttributes({ namespace, searchAttributes });
  await expect
    .poll(() =>
      add().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
}

const typesIn = async (namespace: string) =>
  (await server.connection.operatorService.listSearchAttributes({ namespace })).customAttributes;

it('registers missing search attributes under concurrent calls', async () => {
  const eight = Array.from({ length: 8 }, () => temporalOf('default'));
  await Promise.all(eight.map((temporal) => temporal.ensureSearchAttributes()));
  const types = await typesIn('default');
  for (const name of searchAttributeNames) expect(types[name], name).toBe(keyword);
  expect(await temporalOf('default').ensureSearchAttributes()).toEqual([]);
});

it('keeps the search attributes of other applications', async () => {
  await makeNamespace('shared', ['Theirs', 'ProjectId']);
  const added = await temporalOf('shared').ensureSearchAttributes();
  expect(added).toEqual(searchAttributeNames.filter((name) => name !== 'ProjectId'));
  expect(Object.keys(await typesIn('shared')).sort()).toEqual(
    [...searchAttributeNames, 'Theirs'].sort(),
  );
});

it('starts runs and sessions without search attributes if the server cannot register more', async () => {
  const others = Array.from({ length: 10 }, (_, i) => `Theirs${i}`);
  await makeNamespace('full', others);
  const temporal = temporalOf('full');
  await expect(temporal.ensureSearchAttributes()).rejects.toThrow('cannot have more than 10');
  expect(await temporal.startRun(admittedRun({}))).toBe('started');
  expect(await temporal.signalMessage(admittedRun({ sessionId: 's' }), 'm')).toBe('signalled');
  expect(await temporal.closedWorkflows(new Date(), null)).toEqual({ workflowIds: [], next: null });
});
