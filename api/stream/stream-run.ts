import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { streamEvents } from '../../core/frames/frame.ts';
import { limits } from '../../core/limits.ts';
import { type App, accessOf, callerOf } from '../app-types.ts';
import { forKeysAndRunTokens } from '../auth/callers.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid, notFound } from '../errors.ts';
import { checkFlowScope } from '../runs/load-run.ts';
import { runParams } from '../runs/run-schema.ts';
import { errors } from '../schemas/envelope.ts';
import { queryNumber, seqMax } from '../schemas/text.ts';
import { otherStreamEvent, streamEvent } from './events/stream-event.ts';
import type { StreamCaller, Streams } from './streams.ts';

/** The schema is a component of the document, so that generated types have its name. */
function refTo(schema: z.ZodType): { $ref: string } {
  return { $ref: `#/components/schemas/${String(schema.meta()?.id)}` };
}

const eventStream = z.string().meta({
  contentMediaType: 'text/event-stream',
  description: `Frames with \`id\`, \`event\` and JSON \`data\`, and a comment every ${limits.stream.pingMs / 1_000} seconds. Events: ${streamEvents.join(', ')}; and the agent CLI's own events. Each event, with its data parsed, is a \`StreamEvent\` or an \`OtherStreamEvent\`. The stream ends after \`finished\`.`,
  contentSchema: { anyOf: [streamEvent, otherStreamEvent].map(refTo) },
});

const eventId = queryNumber({ min: 0, max: seqMax });

const schema = {
  operationId: 'streamRun',
  summary: 'Live event stream of a run',
  params: runParams,
  querystring: z.strictObject({
    lastEventId: eventId.optional().meta({ description: 'Same as the Last-Event-ID header.' }),
    api_key: z.string().optional().meta({
      description: 'The API key or a run token, for clients that cannot set headers.',
    }),
  }),
  headers: z.looseObject({
    'last-event-id': z
      .string()
      .optional()
      .meta({ pattern: '^\\d{0,15}$', description: 'Resume after this event ID.' }),
  }),
  response: { 200: eventStream, ...errors(400, 401, 403, 404, 429, 500, 503) },
};

/** For a run of another project this route answers 404. */
export function streamRun(app: App, deps: ApiDeps, streams: Streams): void {
  const url = '/api/v1/runs/:runId/stream';
  const config = {
    ...forKeysAndRunTokens('read'),
    acceptsKeyInQuery: true,
    isStream: true,
  } as const;
  app.get(url, { schema, config, exposeHeadRoute: false }, async (request, reply) => {
    const resumeAfter = headerId(request.headers['last-event-id']) ?? request.query.lastEventId;
    const { projectId, flowIds } = accessOf(request);
    const run = await deps.runs.find(request.params.runId);
    const isHere = run?.projectId === projectId && run.deletedAt === null;
    if (run === null || !isHere) throw notFound('Run');
    checkFlowScope(flowIds, run.flowId);
    const caller = streamCallerOf(request, projectId);
    await streams.open({ run, caller, resumeAfter: resumeAfter ?? null }, reply);
  });
}

/** The streams of an operator are counted like those of a key. No rate limit delays its readers. */
function streamCallerOf(request: FastifyRequest, projectId: string): StreamCaller {
  const { operator } = request;
  if (operator === null) return callerOf(request);
  const rateLimitRpm = limits.key.ratePerMinuteMax;
  const key = { keyId: operator.operatorId, projectId, rateLimitRpm };
  return { key, runToken: null, operator };
}

/** A browser sends this header when it reconnects, so it is newer than the URL's parameter. */
function headerId(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  const parsed = eventId.safeParse(header);
  if (!parsed.success) throw invalid('headers.Last-Event-ID: must be an event ID of this stream');
  return parsed.data;
}
