// Refuses imports that boundaries.json does not allow. An entry of the table is a folder or a file;
// a file may import what the entries of all folders above it allow, and files in its package
// folder.

import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

const repository = resolve(import.meta.dirname, '../..');

const table = JSON.parse(readFileSync(join(import.meta.dirname, 'boundaries.json'), 'utf8'));

const isWithin = (path, folder) => path === folder || path.startsWith(`${folder}/`);

/** The package folder of a path: the first level, or the second in systems/. */
export function packageOf(path) {
  const names = path.split('/');
  return names.slice(0, names[0] === 'systems' ? 2 : 1).join('/');
}

/**
 * The reason why a file must not import a module, or null. Paths are relative to the repository.
 */
export function importError({ file, specifier, isType }) {
  const entries = Object.keys(table).filter((path) => isWithin(file, path));
  if (entries.length === 0) return null;
  const rules = entries.map((path) => table[path]);
  if (!specifier.startsWith('.')) return packageError(rules, { file, specifier });
  const target = join(dirname(file), specifier).split(sep).join('/');
  if (packageOf(target) === packageOf(file)) return null;
  const listed = (kind) =>
    rules.flatMap((rule) => rule[kind] ?? []).some((path) => isWithin(target, path));
  if (listed('imports')) return null;
  if (!listed('types')) return `${packageOf(file)} must not import ${target}`;
  return isType ? null : `${file} may import ${target} as types only`;
}

function packageError(rules, { file, specifier }) {
  if (specifier.startsWith('node:')) {
    return rules.some((rule) => rule.node === false)
      ? `${packageOf(file)} must not use Node`
      : null;
  }
  const allowed = rules.flatMap((rule) => rule.packages ?? []);
  if (allowed.some((name) => isWithin(specifier, name))) return null;
  return `${packageOf(file)} must not import the package ${specifier}`;
}

/** The rule of the linter. */
export const boundaries = {
  create(context) {
    const file = relative(repository, context.filename).split(sep).join('/');
    if (isAbsolute(file) || file.startsWith('..')) return {};
    const check = (node, isType) => {
      if (typeof node.source?.value !== 'string') return;
      const message = importError({ file, specifier: node.source.value, isType });
      if (message !== null) context.report({ node, message });
    };
    const isType = ({ importKind, exportKind, specifiers = [] }) =>
      importKind === 'type' ||
      exportKind === 'type' ||
      (specifiers.length > 0 && specifiers.every((each) => each.importKind === 'type'));
    return {
      ImportDeclaration: (node) => check(node, isType(node)),
      ExportNamedDeclaration: (node) => check(node, isType(node)),
      ExportAllDeclaration: (node) => check(node, isType(node)),
      ImportExpression: (node) => check(node, false),
    };
  },
};
