import type { FastifyRequest } from 'fastify';
import { type ScheduledFlow, scheduleState } from '../../../core/flows/schedule-state.ts';
import type { App } from '../../app-types.ts';
import type { ApiDeps } from '../../deps.ts';
import { ApiError } from '../../errors.ts';
import { flowRecord } from '../../flows/flow-schema.ts';
import { flowView } from '../../flows/flow-view.ts';
import { noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { recordChange } from '../audit/record-change.ts';
import { operatorOf } from '../identify-operator.ts';
import { config, loadProjectFlow, projectPath } from '../load-resources.ts';
import { flowOfProjectParams } from '../operator-schemas.ts';
import { scheduleRecord } from './schedule-schema.ts';

const path = `${projectPath}/flows/:flowId/schedule`;
const one = { params: flowOfProjectParams, querystring: noQuery };

const read = {
  ...one,
  operationId: 'readSchedule',
  summary: 'The schedule of a flow, with its next and its latest starts',
  response: { 200: enveloped(scheduleRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const changed = { 200: enveloped(flowRecord), ...errors(400, 401, 403, 404, 429, 500, 503) };

const pause = {
  ...one,
  operationId: 'pauseSchedule',
  summary: 'Pause the schedule of a flow; starts due during the pause are not run later',
  response: changed,
};

const resume = {
  ...one,
  operationId: 'resumeSchedule',
  summary: 'Resume the schedule of a flow',
  response: changed,
};

/** A schedule is set, changed and removed by the field `schedule` of its flow. */
export function schedules(app: App, deps: ApiDeps): void {
  app.get(path, { config, schema: read }, async (request) => {
    const flow = await loadScheduledFlow(deps, request.params);
    const times = await deps.readScheduleTimes(flow.flowId).catch((err: unknown) => {
      request.log.warn({ err, flowId: flow.flowId }, 'schedule_read_failed');
      throw new ApiError('UPSTREAM_UNAVAILABLE', 'Temporal cannot be reached. Retry later.');
    });
    return { data: scheduleState(flow, await deps.schedules.listStarts(flow.flowId), times) };
  });

  app.post(`${path}/pause`, { config, schema: pause }, (request) =>
    setPaused(deps, request, { ...request.params, isPaused: true }),
  );

  app.post(`${path}/resume`, { config, schema: resume }, (request) =>
    setPaused(deps, request, { ...request.params, isPaused: false }),
  );
}

/** Needs no Temporal. A second call changes nothing. */
async function setPaused(
  deps: ApiDeps,
  request: FastifyRequest,
  { isPaused, ...params }: { projectId: string; flowId: string; isPaused: boolean },
) {
  const { flowId, projectId } = await loadScheduledFlow(deps, params);
  const action = isPaused ? 'schedule_paused' : 'schedule_resumed';
  const isChanged = await recordChange(deps, request, (on) =>
    on.setSchedulePaused({ projectId, flowId }, isPaused),
  );
  const { operatorId } = operatorOf(request);
  if (isChanged) request.log.info({ operatorId, projectId, flowId }, action);
  return { data: flowView(await loadScheduledFlow(deps, params)) };
}

async function loadScheduledFlow(
  deps: Pick<ApiDeps, 'flows'>,
  params: { projectId: string; flowId: string },
): Promise<ScheduledFlow> {
  const { schedule, ...flow } = await loadProjectFlow(deps, params);
  if (schedule === null) throw new ApiError('NOT_FOUND', 'The flow has no schedule.');
  return { ...flow, schedule };
}
