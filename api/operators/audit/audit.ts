import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { type AuditEntry, auditActions, auditSources } from '../../../core/audit/audit-entry.ts';
import { projectIdRule } from '../../../core/field-rules.ts';
import { limits } from '../../../core/limits.ts';
import type { AuditFilter } from '../../../systems/postgres/accounts/audit-log.ts';
import type { App } from '../../app-types.ts';
import { forOperatorAccess } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { linkNext, pageLimit } from '../../http/pagination.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { pageByIdQuery } from '../../schemas/page-query.ts';
import { isoTimestamp, matching, name } from '../../schemas/text.ts';

const path = '/api/audit';

const filters = {
  projectId: matching(projectIdRule).optional(),
  operator: name().optional().meta({ description: 'The name of the operator.' }),
  action: z.enum(auditActions).optional(),
  source: z.enum(auditSources).optional(),
  from: isoTimestamp().optional().meta({ description: 'Inclusive.' }),
  to: isoTimestamp().optional().meta({ description: 'Exclusive.' }),
};

const timestamp = z.string().meta({ format: 'date-time' });
const names = z.array(z.string());

const auditEntry = z
  .object({
    entryId: z.uuid(),
    at: timestamp,
    source: z.enum(auditSources).meta({
      description:
        'How the change was made: through the API, by the command line, or at startup from settings.',
    }),
    operatorId: z.uuid().nullable().meta({ description: 'Null: no operator made the change.' }),
    operator: z.string().nullable(),
    tokenId: z.uuid().nullable().meta({ description: 'Null: no token was used.' }),
    address: z.string().meta({
      description:
        'The IP address of the request, or the user and the host name of the process: `root@runs-1`.',
    }),
    requestId: z.string().nullable(),
    action: z.enum(auditActions),
    projectId: z.string().nullable(),
    objectId: z.string().meta({
      description:
        'The project, flow, key, token, endpoint, event or run. For a session, its `runId`.',
    }),
    fieldsBefore: names.meta({ description: 'The changed fields that had a value before.' }),
    fieldsAfter: names.meta({ description: 'The changed fields that have a value after.' }),
  })
  .meta({ id: 'AuditEntry' });

const list = {
  operationId: 'listAuditEntries',
  summary: 'Changes by operators, the command line and settings, latest first',
  querystring: z.strictObject({ ...pageByIdQuery.shape, ...filters }),
  response: {
    200: enveloped(z.array(auditEntry)),
    ...errors(400, 401, 403, 429, 500, 503),
  },
};

const exported = {
  operationId: 'exportAuditEntries',
  summary: 'All matching entries of the audit log as JSON lines, latest first',
  querystring: z.strictObject(filters),
  response: {
    200: z.string().meta({ contentMediaType: 'application/x-ndjson' }),
    ...errors(400, 401, 403, 429, 500, 503),
  },
};

/** A token for projects gets 403, because the log covers all projects. */
export function audit(app: App, deps: ApiDeps): void {
  const config = forOperatorAccess;

  app.get(path, { config, schema: list }, async (request, reply) => {
    const { cursor, limit: _limit, ...filter } = request.query;
    const limit = pageLimit(request.query);
    const after = cursor === undefined ? {} : { after: cursor };
    const page = await deps.audit.page({ ...filter, ...after, limit });
    if (page.next !== null) {
      const query = { ...textOf(filter), limit, cursor: page.next };
      linkNext(reply, `${deps.publicUrl}${path}`, query);
    }
    return { data: page.entries.map(entryView) };
  });

  app.get(`${path}.ndjson`, { config, schema: exported }, async (request, reply) => {
    return sendLines(deps, reply, request.query);
  });
}

function sendLines(
  deps: Pick<ApiDeps, 'audit'>,
  reply: FastifyReply,
  filter: AuditFilter,
): FastifyReply {
  reply.header('content-disposition', 'attachment; filename="audit.ndjson"');
  reply.header('content-type', 'application/x-ndjson; charset=utf-8');
  return reply.send(Readable.from(linesOf(deps, filter), { objectMode: false }));
}

/** Reads page by page, so that the whole log is never in memory. */
async function* linesOf(
  { audit: log }: Pick<ApiDeps, 'audit'>,
  filter: AuditFilter,
): AsyncGenerator<string> {
  for (let after: { after?: string } = {}; ; ) {
    const page = await log.page({ ...filter, ...after, limit: limits.page.maxItems });
    yield page.entries.map((entry) => `${JSON.stringify(entryView(entry))}\n`).join('');
    if (page.next === null) return;
    after = { after: page.next };
  }
}

function textOf({ from, to, ...filter }: AuditFilter): Record<string, string | undefined> {
  return { ...filter, from: from?.toISOString(), to: to?.toISOString() };
}

function entryView({ at, ...entry }: AuditEntry) {
  return { ...entry, at: at.toISOString() };
}
