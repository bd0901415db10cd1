// Validates flows and projects with the schemas of the operators' API, so that both report the same
// messages. Loaded on demand, because it loads all of zod.

import { ApiError } from '../api/errors.ts';
import { parseBody } from '../api/http/validation.ts';
import {
  changedEndpointFields,
  newEndpointFields,
} from '../api/operators/endpoints/endpoint-fields.ts';
import { endpointPatch, newEndpoint } from '../api/operators/endpoints/endpoint-schema.ts';
import { flowFieldsFrom, flowPatch, newFlow } from '../api/operators/flow-fields.ts';
import { newProject, settingsPatch } from '../api/operators/operator-schemas.ts';
import { checkFlowBudget } from '../api/runs/check-budget.ts';
import { defaultFlow, type Flow } from '../core/flows/flow.ts';
import type { PriceList } from '../core/metering/model-prices.ts';
import { omitUndefined } from '../core/omit-undefined.ts';
import { createAddressFilter } from '../lib/net/public-address.ts';
import type { FlowDecision, FlowFields, NewFlow } from '../systems/postgres/accounts/flow-store.ts';
import type { NewProject, ProjectPatch } from '../systems/postgres/accounts/project-store.ts';
import type { Endpoint } from '../systems/postgres/endpoints/endpoint-store.ts';
import { UsageError } from './format-error.ts';

type EndpointFields = Pick<Endpoint, 'url' | 'eventTypes'>;

export interface Validators {
  newFlow(body: object): Omit<NewFlow, 'projectId'>;
  flowPatch(body: object, before: Parameters<FlowDecision>[0]): Partial<FlowFields>;
  /** `fields` are those that differ from the flow, or from the defaults. */
  flowBudget(modelPrices: PriceList, fields: Partial<FlowFields>, flow?: Flow): void;
  newProject(body: object): NewProject;
  projectPatch(body: object): ProjectPatch;
  newEndpoint(body: object, allowPrivate: readonly string[]): EndpointFields;
  endpointPatch(
    body: object,
    allowPrivate: readonly string[],
  ): ReturnType<typeof changedEndpointFields>;
}

export const validators: Validators = {
  newFlow: (body) =>
    asUsageErrors(() => {
      const fields = parseBody(newFlow, body);
      return { ...flowFieldsFrom(fields), name: fields.name };
    }),
  flowPatch: (body, before) =>
    asUsageErrors(() => flowFieldsFrom(parseBody(flowPatch, body), before)),
  flowBudget: (modelPrices, fields, flow) =>
    asUsageErrors(() =>
      checkFlowBudget(
        { modelPrices, now: () => new Date() },
        { ...(flow ?? defaultFlow), ...fields },
      ),
    ),
  newProject: (body) =>
    asUsageErrors(() => {
      const { projectId, name = projectId, ...bounds } = parseBody(newProject, body);
      return { ...omitUndefined(bounds), projectId, name };
    }),
  projectPatch: (body) => asUsageErrors(() => omitUndefined(parseBody(settingsPatch, body))),
  newEndpoint: (body, allowPrivate) =>
    asUsageErrors(() =>
      newEndpointFields(parseBody(newEndpoint, body), createAddressFilter(allowPrivate)),
    ),
  endpointPatch: (body, allowPrivate) =>
    asUsageErrors(() =>
      changedEndpointFields(parseBody(endpointPatch, body), createAddressFilter(allowPrivate)),
    ),
};

/** Drops the prefix `body.` from field names, which only makes sense in the API. */
function asUsageErrors<T>(validate: () => T): T {
  try {
    return validate();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new UsageError(error.message.replaceAll(/(^|; )body\./g, '$1'));
  }
}
