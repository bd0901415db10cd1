import type { Command } from 'commander';
import { flowCommand } from '../../commands/flow.ts';
import { keyCommand } from '../../commands/key.ts';
import { projectCommand } from '../../commands/project.ts';
import { scheduleCommand } from '../../commands/schedule.ts';
import { webhooksCommand } from '../../commands/webhook-endpoints.ts';
import type { CliDeps, Schedules, Stores } from '../../deps.ts';
import type { Validators } from '../../validators.ts';
import { selectedService } from '../connection.ts';
import { findRecord, type Operator, pathOf } from './find-record.ts';
import { openOperator } from './operator-connection.ts';
import { projectIds } from './operator-http.ts';

/** Adds the administration that the operators' routes offer, with the commands of the database. */
export function addOperatorCommands(program: Command): Command {
  return program
    .commandsGroup('Administration, with an operator token:')
    .addCommand(projectCommand(deps))
    .addCommand(flowCommand(deps))
    .addCommand(scheduleCommand(deps))
    .addCommand(keyCommand(deps))
    .addCommand(webhooksCommand(deps));
}

/** The service validates what it gets. */
const unvalidated = {
  newFlow: (body: object) => body,
  flowPatch: (body: object) => body,
  flowBudget: () => undefined,
  newProject: (body: object) => body,
  projectPatch: (body: object) => body,
  newEndpoint: (body: object) => body,
  endpointPatch: (body: object) => body,
} as unknown as Validators; // bodies instead of the fields that the database stores

const deps = {
  parseReference: (text: string) => text,
  loadValidators: async () => unvalidated,
  async withStores<T>(work: (stores: Stores) => Promise<T>) {
    const { createHttpStores } = await import('./http-stores.ts');
    return work(createHttpStores(await connect(), selectedService().url));
  },
  async withSchedules<T>(work: (schedules: Schedules) => Promise<T>) {
    return work(schedulesOf(await connect()));
  },
} as unknown as CliDeps; // the commands above use only these

/** Searches the project of the context, or else all that the token reaches. */
async function connect(): Promise<Operator> {
  const { http } = await openOperator();
  const { project } = selectedService();
  return { http, projects: async () => (project === undefined ? projectIds(http) : [project]) };
}

function schedulesOf(operator: Operator): Schedules {
  return {
    findFlow: (reference) => findRecord(operator, 'flow', reference),
    readState: ({ projectId, flowId }) =>
      operator.http.data({ path: `${pathOf(projectId)}/flows/${flowId}/schedule` }),
  } as Schedules; // times are texts here
}
