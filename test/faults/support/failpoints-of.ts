import { type Failpoint, failpoints } from '../../../core/failpoint.ts';

type PrefixOf<Name> = Name extends `${infer Prefix}.${string}` ? Prefix : never;

/** Failpoints by the prefix of their names, so a new one is tested automatically. */
export function failpointsOf(...prefixes: PrefixOf<Failpoint>[]): Failpoint[] {
  return failpoints.filter((name) => prefixes.some((prefix) => name.startsWith(`${prefix}.`)));
}
