// The files of a flow as a set. Its ETag changes whenever a file changes. A client that sends
// the ETag back in If-Match changes only the set that it has read.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { RequiredTags } from '../../systems/postgres/files/flow-file-set.ts';
import { ApiError, notFound } from '../errors.ts';

export const changeHeaders = z.looseObject({
  'if-match': z
    .string()
    .optional()
    .meta({
      description:
        "The ETag of the flow's list of files, from an earlier answer. If the files have changed " +
        'since, the answer is 412 and nothing is changed.',
    }),
});

export function setTag(reply: FastifyReply, tag: string): void {
  reply.header('etag', etagOf(tag));
}

export const etagOf = (tag: string): string => `"${tag}"`;

/** A weak or malformed tag is the tag of no set. */
export function requiredTags({ headers }: Pick<FastifyRequest, 'headers'>): RequiredTags {
  const given = headers['if-match']?.trim();
  if (given === undefined || given === '*') return null;
  return given.split(',').map((tag) => /^\s*"([^"]*)"\s*$/.exec(tag)?.[1] ?? '');
}

/** Why a change was not made. */
export function changeError(outcome: 'mismatch' | 'missing'): ApiError {
  if (outcome === 'missing') return notFound('File');
  return new ApiError(
    'PRECONDITION_FAILED',
    'The ETag in If-Match is not that of the files of the flow. List them again.',
  );
}
