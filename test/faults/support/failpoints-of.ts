import { type Failpoint, failpoints } from '../../../core/failpoint.ts';

type PrefixOf<Name> = Name extends `${infer Prefix}.${string}` ? Prefix : never;

/** Failpoints by the first part of their names: one that is added among them is tried as they are. */
export function failpointsOf(...prefixes: PrefixOf<Failpoint>[]): Failpoint[] {
  return failpoints.filter((name) => prefixes.some((prefix) => name.startsWith(`${prefix}.`)));
}
