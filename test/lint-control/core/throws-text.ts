// breaks: typescript(only-throw-error)
export function fail(): never {
  throw 'text';
}
