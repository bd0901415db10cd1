/**
 * A promise that is resolved from outside, at most once, with a value that can be read at any time.
 */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  /** Undefined until resolved. */
  value(): T | undefined;
  /** Only the first call has an effect. */
  resolve(value: T): void;
}

export function createDeferred<T extends object | string | number | true>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  let value: T | undefined;
  return {
    promise,
    value: () => value,
    resolve(result) {
      if (value !== undefined) return;
      value = result;
      resolve(result);
    },
  };
}
