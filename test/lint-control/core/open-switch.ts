// breaks: typescript(switch-exhaustiveness-check)
export function name(status: 'running' | 'sleep'): string {
  switch (status) {
    case 'running':
      return 'r';
  }
  return 's';
}
