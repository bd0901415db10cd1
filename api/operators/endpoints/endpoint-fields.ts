import type { z } from 'zod';
import { omitUndefined } from '../../../core/omit-undefined.ts';
import { checkUrl } from '../../runs/check-callback-url.ts';
import type { endpointPatch, newEndpoint } from './endpoint-schema.ts';

type IsAddressAllowed = (address: string) => boolean;

/** Rejects a URL that delivery would always block. */
export function newEndpointFields(
  { url, eventTypes }: z.output<typeof newEndpoint>,
  isAddressAllowed: IsAddressAllowed,
) {
  if (url !== undefined) checkUrl('body.url', url, isAddressAllowed);
  return { url: url ?? null, eventTypes: withoutDuplicates(eventTypes) };
}

/** The same for the fields of a change. */
export function changedEndpointFields(
  { url, eventTypes }: z.output<typeof endpointPatch>,
  isAddressAllowed: IsAddressAllowed,
) {
  if (url !== undefined) checkUrl('body.url', url, isAddressAllowed);
  return omitUndefined({ url, eventTypes: eventTypes && withoutDuplicates(eventTypes) });
}

const withoutDuplicates = <T>(values: readonly T[]): T[] => [...new Set(values)];
