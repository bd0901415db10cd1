type OnlyDefined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The members that say something: undefined stands for one that is not there. */
export function onlyDefined<T extends object>(fields: T): OnlyDefined<T> {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as OnlyDefined<T>; // fromEntries forgets the names
}
