import { boundaries } from './boundaries.mjs';

/**
 * Workflow runs share an isolate, so a change of a module's top-level state is visible to workflows
 * of other projects. Top-level state must be constant.
 */
const noModuleState = {
  create(context) {
    const report = (node) =>
      context.report({
        node,
        message: 'modules of workflows must not hold state: workflow runs would share it',
      });
    return {
      VariableDeclaration(node) {
        if (!isTopLevel(node)) return;
        if (node.kind !== 'const') report(node);
        else if (node.declarations.some(({ init }) => isEmptyContainer(init))) report(node);
      },
      ClassBody(node) {
        for (const member of node.body) if (member.static && !member.readonly) report(member);
      },
    };
  },
};

function isTopLevel(node) {
  return node.parent.type === 'Program' || node.parent.type === 'ExportNamedDeclaration';
}

const containers = new Set(['Map', 'Set', 'WeakMap', 'WeakSet', 'Array', 'Object']);

/** An empty container at the top of a module will be filled later, so it is state. */
function isEmptyContainer(init) {
  if (init?.type === 'NewExpression') {
    return containers.has(init.callee.name) && init.arguments.length === 0;
  }
  if (init?.type === 'ArrayExpression') return init.elements.length === 0;
  return init?.type === 'ObjectExpression' && init.properties.length === 0;
}

export default {
  meta: { name: 'flowrun' },
  rules: { boundaries, 'no-module-state': noModuleState },
};
