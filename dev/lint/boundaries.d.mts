export interface Import {
  file: string;
  specifier: string;
  isType: boolean;
}

export function packageOf(path: string): string;
export function importError(anImport: Import): string | null;
