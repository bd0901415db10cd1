// breaks: eslint(no-restricted-imports)
export async function open(): Promise<void> {
  await import('../../systems/postgres/run-store.ts');
}
