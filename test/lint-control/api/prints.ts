// breaks: eslint(no-console)
export function say(): void {
  console.log('hello');
}
