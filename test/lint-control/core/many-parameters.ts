// breaks: eslint(max-params)
export function sum(a: number, b: number, c: number, d: number): number {
  return a + b + c + d;
}
